//! Reading and removing what a group's folder holds.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The number a file holds alone.
pub fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number after a key in a file of `key value` lines.
pub fn word_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Removes a group, deepest first. Just after the last process has died the kernel may still hold it for a moment;
/// what then cannot be removed is left to the next sweep.
pub fn remove(dir: &Path) {
    remove_trying(dir, 20);
}

/// Removes a group that may still be held for long, without waiting: a later sweep tries again.
pub fn remove_at_once(dir: &Path) {
    remove_trying(dir, 1);
}

fn remove_trying(dir: &Path, tries: u32) {
    if let Ok(entries) = fs::read_dir(dir) {
        for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            remove_trying(&entry.path(), tries);
        }
    }
    for left in (0..tries).rev() {
        match fs::remove_dir(dir) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && left > 0 => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_matched_whole() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(word_after(text, "oom_kill"), Some(3));
        assert_eq!(word_after(text, "oom"), None);
        assert_eq!(number("42\n"), Some(42));
        assert_eq!(number("max\n"), None);
    }
}
