//! Section `namespaces`: which are new, and who the tool is in them.

use super::protocol::{StageError, Step};
use crate::call::{Namespaces, Owner};
use crate::sys::{self, Forked, OneThread, SysError};
use nix::sched::{CloneFlags, setns, unshare};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

/// The clone flags of a call. Without `net` the child stays in the caller's network namespace.
pub fn flags(ns: &Namespaces, net: bool) -> i32 {
    let wanted = [
        (ns.user, libc::CLONE_NEWUSER),
        (ns.mount, libc::CLONE_NEWNS),
        (ns.pid, libc::CLONE_NEWPID),
        (net, libc::CLONE_NEWNET),
        (ns.ipc, libc::CLONE_NEWIPC),
        (ns.uts, libc::CLONE_NEWUTS),
    ];
    wanted.into_iter().filter(|(on, _)| *on).fold(0, |all, (_, flag)| all | flag)
}

/// Writes the one-line id maps of `pid`: `inside` there is `outside` here. setgroups is denied first, without which
/// an ordinary user's gid_map is refused.
pub fn write_maps(pid: i32, inside: (u32, u32), outside: (u32, u32)) -> Result<(), SysError> {
    let write = |file: &str, text: String| {
        let path = format!("/proc/{pid}/{file}");
        std::fs::write(&path, text).map_err(SysError::io("write", path))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{} {} 1\n", inside.0, outside.0))?;
    write("gid_map", format!("{} {} 1\n", inside.1, outside.1))
}

/// The most user namespaces that are kept.
const KEPT: usize = 64;

/// User namespaces that exist only to map file owners, by (owner, outside id). Kept, because making one costs a clone.
#[derive(Default)]
pub struct OwnerMaps(HashMap<(u32, u32, u32, u32), OwnedFd>);

impl OwnerMaps {
    /// Forgets all when there are too many. Between launches only: within one, every map that was made is needed.
    pub fn trim(&mut self) {
        if self.0.len() >= KEPT {
            self.0.clear();
        }
    }

    /// Makes the namespace in which files of `owner` belong to `outside`, unless it is there.
    pub fn make(&mut self, owner: Owner, outside: (u32, u32), alone: &OneThread) -> Result<(), StageError> {
        let key = (owner.uid, owner.gid, outside.0, outside.1);
        if let std::collections::hash_map::Entry::Vacant(place) = self.0.entry(key) {
            place.insert(make_owner_map(owner, outside, alone).map_err(StageError::at(Step::Trees))?);
        }
        Ok(())
    }

    /// The namespace, if it has been made.
    pub fn made(&self, owner: Owner, outside: (u32, u32)) -> Option<&OwnedFd> {
        self.0.get(&(owner.uid, owner.gid, outside.0, outside.1))
    }
}

fn make_owner_map(owner: Owner, outside: (u32, u32), alone: &OneThread) -> Result<OwnedFd, SysError> {
    let (hold, release) = nix::unistd::pipe().map_err(SysError::on("pipe", ""))?;
    match sys::clone_into(libc::CLONE_NEWUSER, false, alone)? {
        Forked::Child => {
            drop(release);
            let _ = nix::unistd::read(&hold, &mut [0]);
            sys::exit_now(0)
        }
        Forked::Parent((pid, _pidfd)) => {
            let made = write_maps(pid, (owner.uid, owner.gid), outside).and_then(|()| {
                let path = format!("/proc/{pid}/ns/user");
                File::open(&path).map(OwnedFd::from).map_err(SysError::io("open", path))
            });
            drop(release);
            let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(pid), None);
            made
        }
    }
}

/// A network namespace made ahead, so that a call does not wait for its creation (about 0.4 ms). Each is handed to
/// one call and never again. Only a launcher with CAP_SYS_ADMIN over its own namespaces can make one.
pub struct NetAhead {
    host: OwnedFd,
    ready: Option<OwnedFd>,
}

impl NetAhead {
    /// None where the launcher may not make namespaces of its own: calls then make theirs.
    pub fn new() -> Option<Self> {
        let host = File::open("/proc/self/ns/net").ok()?.into();
        let mut ahead = Self { host, ready: None };
        ahead.refill().then_some(ahead)
    }

    /// Makes the next one, with loopback up. False where that is refused.
    pub fn refill(&mut self) -> bool {
        if self.ready.is_some() {
            return true;
        }
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return false;
        }
        let made = sys::raise_loopback().ok().and_then(|()| File::open("/proc/self/ns/net").ok());
        self.ready = made.map(OwnedFd::from);
        self.leave() && self.ready.is_some()
    }

    /// Enters the one that is ready; the next clone is born there. False: the clone has to make its own.
    pub fn enter(&mut self) -> bool {
        self.ready.take().is_some_and(|ns| setns(ns.as_fd(), CloneFlags::CLONE_NEWNET).is_ok())
    }

    /// Back to the host's.
    pub fn leave(&self) -> bool {
        setns(self.host.as_fd(), CloneFlags::CLONE_NEWNET).is_ok()
    }
}
