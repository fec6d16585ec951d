//! A freezer of the test's own (control groups version 1): a process in it acts on no signal, not even SIGKILL, until it
//! is let go. As near to uninterruptible sleep as a test can come.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The group; thawed and removed when dropped.
#[derive(Debug)]
pub struct Freezer {
    folder: PathBuf,
}

impl Freezer {
    /// Makes it; None where there is none to be had.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let top = PathBuf::from("/sys/fs/cgroup/freezer");
        let name = format!("hostile-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = top.join(name);
        fs::create_dir(&folder).ok()?;
        Some(Self { folder })
    }

    /// Freezes these processes.
    ///
    /// # Panics
    /// When they do not freeze.
    pub fn freeze(&self, pids: &[u32]) {
        for pid in pids {
            fs::write(self.folder.join("cgroup.procs"), pid.to_string()).expect("a process can be moved");
        }
        self.set("FROZEN");
        let state = || fs::read_to_string(self.folder.join("freezer.state")).unwrap_or_default();
        assert!(crate::left::soon(|| state().trim() == "FROZEN"), "{}", state());
    }

    /// Lets them go.
    pub fn thaw(&self) {
        self.set("THAWED");
    }

    fn set(&self, state: &str) {
        let _ = fs::write(self.folder.join("freezer.state"), state);
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.thaw();
        crate::left::soon(|| fs::remove_dir(&self.folder).is_ok());
    }
}
