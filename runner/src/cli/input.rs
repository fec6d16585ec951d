//! The caller's input: where it comes from, and the wait for it.

use super::args::InputArgs;
use super::call::{GRACE_MS, WALL_MS};
use crate::human;
use crate::patience::Patience;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::{Input, Tighten};
use crate::runner::{Runner, What};
use crate::start_failure;
use crate::sys::SysError;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long the caller's input is awaited at least.
const LEAST_WAIT: Duration = Duration::from_secs(1);

/// The largest input that is read.
const INPUT_MAX: u64 = 64 << 20;

/// The input: a file, standard input where it is a pipe or a file, or nothing.
pub fn input(args: &InputArgs) -> Result<Input, Refusal> {
    let bytes = match &args.input {
        Some(file) => Some(read(file, "--input")?),
        None if std::io::stdin().is_terminal() || is_null() => None,
        None => Some(read(Path::new("-"), "standard input")?),
    };
    // A pipe that brings nothing means the same as no pipe when values are set by flag.
    let bytes = bytes.filter(|bytes| !bytes.is_empty() || args.set.is_empty());
    Ok(Input { bytes, set: args.set.clone() })
}

/// Whether standard input will not make a reader wait: a file or a device, or a pipe whose writers are gone. A terminal
/// is not read at all.
fn input_ended() -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let stdin = std::io::stdin();
    let kind = nix::sys::stat::fstat(&stdin).map_or(0, |stat| stat.st_mode & libc::S_IFMT);
    if kind != libc::S_IFIFO && kind != libc::S_IFSOCK {
        return true;
    }
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::from(2u8)).is_ok()
        && fds[0].revents().is_some_and(|flags| flags.contains(PollFlags::POLLHUP))
}

/// Whether standard input is a device, such as /dev/null: no document comes from there.
fn is_null() -> bool {
    nix::sys::stat::fstat(std::io::stdin()).is_ok_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFCHR)
}

pub fn read(path: &Path, flag: &str) -> Result<Vec<u8>, Refusal> {
    let usage = |message: String| Refusal::new(Reason::Usage, message);
    let mut bytes = Vec::new();
    let shown = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(INPUT_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(INPUT_MAX + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        let place = if flag == shown { shown.clone() } else { format!("{flag}: {shown}") };
        usage(format!("{place}: {error}")).hint("name a file that can be read, or - for standard input")
    })?;
    if bytes.len() as u64 > INPUT_MAX {
        return Err(
            usage(format!("{flag}: {shown} is larger than 64 MiB")).hint("pass large data as a file the tool is given")
        );
    }
    Ok(bytes)
}

/// The wait for the caller's input, which may never end.
pub struct Waiting<'a> {
    /// Who knows the deadline.
    pub runner: &'a Runner,
    /// The request without its input.
    pub what: &'a What,
    /// What the input is read from; None: standard input, where it is a pipe.
    pub sources: &'a [Option<PathBuf>],
    /// What the caller tightens, the deadline among it.
    pub tighten: &'a Tighten,
    /// When the request was accepted.
    pub accepted: Instant,
    /// Stands still while the input is awaited.
    pub patience: &'a Patience,
    /// Turns true when the caller cancels.
    pub cancelled: watch::Receiver<bool>,
}

impl Waiting<'_> {
    /// Whether reading the input cannot wait: it comes from regular files, or its pipe has been closed already.
    fn at_hand(&self) -> bool {
        self.sources.iter().all(|source| match source.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => std::fs::metadata(path).map_or(true, |data| data.is_file()),
            None => input_ended(),
        })
    }

    /// Brings the request with its input.
    pub async fn gather(
        mut self,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
    ) -> Result<What, Refusal> {
        // Nearly always the input is there at once: then there is no thread, and no deadline to look up.
        if self.at_hand() {
            return gather();
        }
        let (done, gathered) = tokio::sync::oneshot::channel();
        let lost = || Refusal::new(Reason::Internal, "the thread that reads the input was lost").hint("report it");
        let started = std::thread::Builder::new().spawn(move || done.send(gather()));
        started.map_err(SysError::io("clone", "thread for the input")).map_err(start_failure::refusal)?;
        tokio::pin!(gathered);
        let wall_ms = self.runner.wall_ms(self.what, self.tighten).unwrap_or(WALL_MS);
        self.patience.pause();
        let wall = Duration::from_millis(wall_ms);
        // Who has to write the input gets a moment for it, however short the tool's own time is.
        let wall = wall.max(LEAST_WAIT);
        let gathered = tokio::select! {
            biased;
            gathered = &mut gathered => gathered.unwrap_or_else(|_| Err(lost())),
            Ok(_) = self.cancelled.wait_for(|cancelled| *cancelled) => {
                Err(Refusal::new(Reason::Cancelled, "cancelled while the input was awaited"))
            }
            () = tokio::time::sleep_until((self.accepted + wall).into()) => {
                let deadline = human::millis(wall_ms);
                let message = if wall_ms < 1000 {
                    format!("the input did not end within 1 s; the deadline is {deadline}, and input is awaited for 1 s at least")
                } else {
                    format!("the input did not end within the deadline of {deadline}")
                };
                Err(Refusal::new(Reason::Usage, message).hint("close standard input, or name a file with --input"))
            }
        };
        self.patience.resume(wall_ms, GRACE_MS);
        gathered
    }
}
