//! Finding processes by /proc: to count them, and to kill them where no pid namespace does.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::HashMap;

/// How many processes there are beside init in its pid namespace; 1 where /proc cannot tell (there is at least one,
/// since this is asked only then).
pub fn count_processes() -> u32 {
    let own = std::process::id();
    let count = pids().into_iter().filter(|pid| *pid != own && alive(*pid)).count();
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// Kills every descendant of this process and returns how many there were. A subreaper finds them all: what loses
/// its parent becomes its child. A process that forks meanwhile is found by the next sweep.
pub fn kill_descendants() -> u32 {
    let parents: HashMap<u32, u32> =
        pids().into_iter().filter_map(|pid| parent_of(pid).map(|parent| (pid, parent))).collect();
    let own = std::process::id();
    let below = |mut pid: u32| {
        for _ in 0..parents.len() {
            match parents.get(&pid) {
                Some(parent) if *parent == own => return true,
                Some(parent) => pid = *parent,
                None => return false,
            }
        }
        false
    };
    let mut count = 0;
    for pid in parents.keys().copied().filter(|pid| below(*pid)) {
        if kill(Pid::from_raw(pid as i32), Signal::SIGKILL).is_ok() && alive(pid) {
            count += 1;
        }
    }
    count
}

fn pids() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The state letter and parent of a process (proc(5), stat): after the name, which may itself hold parentheses.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn parent_of(pid: u32) -> Option<u32> {
    stat(pid).map(|(_, parent)| parent)
}

fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}
