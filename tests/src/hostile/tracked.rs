//! Processes that this test has started, and what of theirs has outlived them.
//!
//! The test adopts orphans (PR_SET_CHILD_SUBREAPER): whatever a call leaves behind, under whatever name, session or
//! namespace, becomes a descendant of the test, and of no other process of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command, Output};
use std::sync::Mutex;

/// The processes in flight.
static IN_FLIGHT: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A process whose descendants belong to it while it lives.
#[derive(Debug)]
pub struct Tracked {
    child: Option<Child>,
    pid: u32,
}

impl Tracked {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    ///
    /// # Panics
    /// When the test cannot adopt orphans.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut in_flight = IN_FLIGHT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        nix::sys::prctl::set_child_subreaper(true).expect("orphans can be adopted");
        let child = command.spawn()?;
        in_flight.insert(child.id());
        Ok(Self { pid: child.id(), child: Some(child) })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The process itself.
    ///
    /// # Panics
    /// When its end has been waited for.
    pub fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it has not been waited for")
    }

    /// Sends it a signal.
    pub fn send(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.pid.cast_signed());
        let _ = nix::sys::signal::kill(pid, signal);
    }

    /// Waits for its end, reading all it says.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn output(mut self) -> io::Result<Output> {
        self.child.take().map_or_else(|| Err(io::ErrorKind::NotFound.into()), Child::wait_with_output)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        IN_FLIGHT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&self.pid);
    }
}

/// A process as /proc shows it.
#[derive(Clone, Debug)]
struct Seen {
    parent: u32,
    state: char,
    name: String,
}

fn processes() -> BTreeMap<u32, Seen> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, tail) = text.rsplit_once(") ")?;
        let mut fields = tail.split(' ');
        let state = fields.next()?.chars().next()?;
        let name = head.split_once('(')?.1.to_owned();
        Some((pid, Seen { parent: fields.next()?.parse().ok()?, state, name }))
    })
    .collect()
}

/// The children of a process, oldest first.
pub fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// The descendants of a process and their names.
pub fn descendants(ancestor: u32) -> Vec<(u32, String)> {
    let all = processes();
    let below = |mut pid: u32| {
        for _ in 0..all.len() {
            match all.get(&pid) {
                Some(seen) if seen.parent == ancestor => return true,
                Some(seen) => pid = seen.parent,
                None => return false,
            }
        }
        false
    };
    all.iter().filter(|(pid, _)| below(**pid)).map(|(pid, seen)| (*pid, seen.name.clone())).collect()
}

/// The processes that calls have left to this test: its descendants that belong to no process in flight. `dead`:
/// whether those count that have ended and were not waited for by the process that had to.
pub fn survivors(dead: bool) -> Vec<String> {
    let in_flight = IN_FLIGHT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let all = processes();
    let own = std::process::id();
    let orphan = |mut pid: u32| {
        for _ in 0..all.len() {
            match all.get(&pid) {
                _ if in_flight.contains(&pid) => return false,
                Some(seen) if seen.parent == own => return true,
                Some(seen) => pid = seen.parent,
                None => return false,
            }
        }
        false
    };
    let found = all.iter().filter(|(pid, _)| orphan(**pid));
    found
        .filter(|(pid, seen)| {
            if seen.state == 'Z' && seen.parent == own {
                // Adopted after its end: nobody else will wait for it.
                let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
                let flags = nix::sys::wait::WaitPidFlag::WNOHANG | nix::sys::wait::WaitPidFlag::__WALL;
                let _ = nix::sys::wait::waitpid(pid, Some(flags));
            }
            dead || seen.state != 'Z'
        })
        .map(|(pid, seen)| format!("{pid} {} {}", seen.name, seen.state))
        .collect()
}
