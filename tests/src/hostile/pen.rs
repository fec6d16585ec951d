//! Control groups of the test's own, in which the runners of root are kept: what a call leaves below them is theirs,
//! whoever else uses toolcell on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use toolcell::cgroup::{PREFIX, Place};

/// One folder in each hierarchy that limits calls. Removed when dropped.
#[derive(Debug)]
pub struct Pen {
    folders: Vec<PathBuf>,
}

impl Pen {
    /// Makes it; None where there is no control group v1 to be had.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Ok(place @ Place::V1(_)) = Place::find() else { return None };
        // Not toolcell's own prefix, or another start of it would look into this one.
        let name = format!("hostile-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut folders: Vec<PathBuf> = place.bases().iter().map(|base| base.join(&name)).collect();
        folders.sort();
        folders.dedup();
        let pen = Self { folders };
        pen.folders.iter().all(|folder| fs::create_dir(folder).is_ok()).then_some(pen)
    }

    /// The same command, begun inside.
    pub fn hold(&self, command: &Command) -> Command {
        let mut held = Command::new("/bin/sh");
        held.args([
            "-c",
            "while [ \"$1\" != : ]; do echo $$ > \"$1/cgroup.procs\" || exit 99; shift; done; shift; exec \"$@\"",
            "pen",
        ]);
        held.args(&self.folders).arg(":").arg(command.get_program()).args(command.get_args());
        held.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            held.current_dir(folder);
        }
        held
    }

    /// The folders.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The groups of calls that are there.
    pub fn groups(&self) -> Vec<PathBuf> {
        self.folders.iter().flat_map(|folder| groups_in(folder)).collect()
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        for folder in self.groups().iter().chain(&self.folders) {
            for _ in 0..500 {
                match fs::remove_dir(folder) {
                    Err(error) if error.raw_os_error() == Some(nix::errno::Errno::EBUSY as i32) => {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// Toolcell's groups in a folder.
pub fn groups_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_group(path)).collect()
}

fn is_group(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)) && path.is_dir()
}

/// Makes a group look as if it had been made hours ago, so that a test need not wait; or hours ahead, as by a clock that
/// was set back.
pub fn age(group: &Path, hours: i32) {
    let away = std::time::Duration::from_secs(3600 * u64::from(hours.unsigned_abs()));
    let now = std::time::SystemTime::now();
    let time = if hours < 0 { now - away } else { now + away };
    let made = fs::File::open(group).and_then(|folder| folder.set_modified(time));
    made.unwrap_or_else(|error| panic!("{}: {error}", group.display()));
}
