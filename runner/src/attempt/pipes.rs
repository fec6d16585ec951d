//! The pipes of an attempt, and the descriptors that travel to the launcher.

use super::{Attempt, Prepared};
use crate::call::StdoutKind;
use crate::cell::client::{Descriptors, memory_file};
use crate::event::Items;
use crate::streams::{Feed, Tap};
use crate::sys::SysError;
use nix::fcntl::OFlag;
use std::os::fd::OwnedFd;

/// The near ends of a call's pipes.
pub struct Ends {
    /// The report socket.
    pub report: OwnedFd,
    /// The lifeline.
    pub lifeline: OwnedFd,
    /// Standard input.
    pub feed: Feed,
    /// Standard output.
    pub stdout: Tap,
    /// Standard error.
    pub stderr: Tap,
}

/// Makes them.
pub fn pipes(attempt: &Attempt<'_>, prepared: &mut Prepared) -> Result<(Ends, Descriptors), SysError> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
    let owner = prepared.launch.outside.map(|(id, _)| id);
    let input = prepared.input.take();
    let (stdin, feed_end) = match &input {
        None => (open_null()?, None),
        Some(_) => {
            let (read, write) = pipe(owner)?;
            (read, Some(write))
        }
    };
    let (stdout_end, stdout) = pipe(owner)?;
    let (stderr_end, stderr) = pipe(owner)?;
    let (control, lifeline) = pipe(None)?;
    let (report, report_far) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .map_err(SysError::on("socketpair", "report"))?;
    let secrets = match prepared.secrets.is_empty() {
        true => None,
        false => Some(memory_file("secrets", &prepared.secrets.block())?),
    };
    let cgroups = match &prepared.group {
        None => Vec::new(),
        Some(group) => group.entrances().map_err(|error| SysError::new("open", error.message, error.errno))?,
    };
    let limits = &attempt.call.limits;
    let half = limits.stderr / 2;
    let shown = attempt.events.filter(|_| attempt.call.stdio.stdout == StdoutKind::Jsonl);
    let items =
        shown.map(|events| Items::new(events.clone(), attempt.call_id, attempt.number, prepared.secrets.clone()));
    let ends = Ends {
        report,
        lifeline,
        feed: Feed::new(feed_end, input.unwrap_or_default())?,
        stdout: Tap::new(stdout_end, limits.stdout, 0)?.showing(items),
        stderr: Tap::new(stderr_end, limits.stderr - half, half)?,
    };
    Ok((ends, Descriptors { stdio: [stdin, stdout, stderr], report: report_far, control, secrets, cgroups }))
}

/// A pipe that belongs to the tool's id, so that the tool may open /dev/stdin and its like anew.
fn pipe(owner: Option<u32>) -> Result<(OwnedFd, OwnedFd), SysError> {
    let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(SysError::on("pipe", ""))?;
    if let Some(id) = owner {
        use std::os::fd::AsFd;
        let (uid, gid) = (nix::unistd::Uid::from_raw(id), nix::unistd::Gid::from_raw(id));
        nix::unistd::fchown(read.as_fd(), Some(uid), Some(gid)).map_err(SysError::on("fchown", "pipe"))?;
    }
    Ok((read, write))
}

fn open_null() -> Result<OwnedFd, SysError> {
    std::fs::File::open("/dev/null").map(OwnedFd::from).map_err(SysError::io("open", "/dev/null"))
}
