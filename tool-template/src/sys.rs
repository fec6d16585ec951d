//! The only unsafe code: stdout, signals, and what `legacy` needs from the kernel.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use libc::c_int;

use crate::exit;

/// What stands on stdout when the handler did not come back in time after SIGTERM. Text, because a signal handler
/// may not allocate.
pub(crate) const CANCELLED_DOCUMENT: &[u8] = concat!(
    r#"{"error":{"status":"channel_failure","reason":"cancelled","#,
    r#""message":"SIGTERM came and the tool had not ended 200 ms later","retryable":false}}"#,
    "\n"
)
.as_bytes();

/// How long a handler may go on after SIGTERM, in microseconds.
const PATIENCE: libc::suseconds_t = 200_000;

static CANCELLED: AtomicBool = AtomicBool::new(false);
static CLAIMED: AtomicBool = AtomicBool::new(false);
static ANSWER: AtomicI32 = AtomicI32::new(-1);

/// Whether SIGTERM (or Ctrl-C) was received.
pub(crate) fn cancelled() -> bool {
    CANCELLED.load(Ordering::SeqCst)
}

/// True for exactly one caller: the one that may write the document.
pub(crate) fn claim_answer() -> bool {
    !CLAIMED.swap(true, Ordering::SeqCst)
}

/// Keeps the real stdout for the answer and points descriptor 1 at stderr, for this process and its children.
pub(crate) fn protect_stdout() -> io::Result<OwnedFd> {
    let answer = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: dup2 takes two integers and touches no memory. Descriptor 1 stays open throughout, so that no
    // `Stdout` handle is left dangling; only what it refers to changes.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

/// From here on SIGTERM sets the flag, and 200 ms later the process answers on `answer` unless it has answered.
///
/// An interval timer instead of a watcher thread: it costs nothing at start-up and none of the few processes and
/// threads that a sandbox allows.
pub(crate) fn answer_on_termination(answer: BorrowedFd<'_>) -> io::Result<()> {
    ANSWER.store(answer.as_raw_fd(), Ordering::SeqCst);
    handle(libc::SIGALRM, on_alarm)?;
    handle(libc::SIGTERM, on_terminate)?;
    // Ctrl-C as well: children of `legacy` have a process group of their own, which a terminal does not reach.
    if !is_ignored(libc::SIGINT)? {
        handle(libc::SIGINT, on_terminate)?;
    }
    Ok(())
}

fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> io::Result<()> {
    // SAFETY: all-zero is a valid sigaction (no flags, default action, no mask), and the pointers are to locals that
    // outlive the call. `handler` has the signature that goes with the absence of SA_SIGINFO, and both handlers here
    // use only atomics and bare system calls.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn is_ignored(signal: c_int) -> io::Result<bool> {
    // SAFETY: a null new action asks only; `action` is a valid place for the answer and outlives the call.
    let (result, action) = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action), action)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(action.sa_sigaction == libc::SIG_IGN) }
}

extern "C" fn on_terminate(_: c_int) {
    if CANCELLED.swap(true, Ordering::SeqCst) {
        return;
    }
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: PATIENCE },
    };
    // SAFETY: on Linux a bare system call without locks or allocation, so safe in a signal handler; with this
    // constant, valid timer it cannot fail, so that errno of the interrupted code stays as it was.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

extern "C" fn on_alarm(_: c_int) {
    // Not claimed: whoever has claimed it is writing, and a second document would spoil the first.
    if !cancelled() || !claim_answer() {
        return;
    }
    let (answer, mut rest) = (ANSWER.load(Ordering::SeqCst), CANCELLED_DOCUMENT);
    while !rest.is_empty() {
        // SAFETY: write is async-signal-safe, and pointer and length describe the rest of a static slice. The
        // descriptor stays open to the end: `run` closes it only after claiming the answer.
        match usize::try_from(unsafe { libc::write(answer, rest.as_ptr().cast(), rest.len()) }) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            // A broken pipe, or a full one that does not block: there is nobody to tell.
            // SAFETY: _exit is async-signal-safe and runs no destructors of the interrupted code.
            Err(_) => unsafe { libc::_exit(exit::IO) },
        }
    }
    // SAFETY: as above.
    unsafe { libc::_exit(exit::UNAVAILABLE) }
}

/// Makes reads and writes on a pipe of our own return instead of block.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let raw: RawFd = fd.as_raw_fd();
    // SAFETY: fcntl with these commands takes integers only, and `fd` is open for as long as it is borrowed.
    let result = unsafe {
        match libc::fcntl(raw, libc::F_GETFL) {
            -1 => -1,
            flags => libc::fcntl(raw, libc::F_SETFL, flags | libc::O_NONBLOCK),
        }
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits until one of `fds` is ready; false when none is, because time is up or a signal came.
pub(crate) fn poll(fds: &mut [libc::pollfd], patience: Duration) -> io::Result<bool> {
    // Rounded up: rounded down, the last millisecond before a deadline would be spent spinning.
    let milliseconds = c_int::try_from(patience.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX);
    let count = libc::nfds_t::try_from(fds.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: pointer and count describe `fds`, which is borrowed mutably for the whole call.
    match unsafe { libc::poll(fds.as_mut_ptr(), count, milliseconds) } {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
        ready => Ok(ready > 0),
    }
}

/// SIGKILL to a whole process group; a group that is gone already is no error.
pub(crate) fn kill_group(leader: u32) {
    // 0 and 1 would mean our own group and every process.
    if let Ok(group @ 2..) = libc::pid_t::try_from(leader) {
        // SAFETY: killpg takes integers only.
        unsafe { libc::killpg(group, libc::SIGKILL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_of_the_signal_handler_is_an_error_document() {
        let document: crate::ErrorDocument = serde_json::from_slice(CANCELLED_DOCUMENT).unwrap();
        assert_eq!(document.error.status, Some(crate::Status::ChannelFailure));
        assert_eq!(document.error.reason.as_deref(), Some("cancelled"));
    }
}
