//! What a call may leave behind on the host, and how to see that it does not.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A number that nobody else uses, to be given to `sleep` as its argument: hundreds of years, easily found.
pub fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes of the host that have `marker` as an argument.
pub fn alive(marker: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == marker.as_bytes())
    };
    pids.filter(marked).collect()
}

/// Whether a condition comes true within ten seconds.
pub fn soon(condition: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    condition()
}

/// The folders of toolcell's own control groups that a process is in.
pub fn control_groups(pid: u32) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let top = Path::new("/sys/fs/cgroup");
    let folder = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let path = path.trim_start_matches('/');
        let below = ["unified", controllers.trim_start_matches("name="), ""];
        path.contains("toolcell-")
            .then(|| below.map(|one| top.join(one).join(path)).into_iter().find(|path| path.is_dir()))?
    };
    text.lines().filter_map(folder).collect()
}

/// The names in a folder, sorted; empty when it is not there.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
