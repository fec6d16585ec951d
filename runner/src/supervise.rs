//! Supervising a launched call: streams pumped, the deadline kept, everything ended, every fact noted.

use crate::call::Limits;
use crate::cell::client;
use crate::cell::protocol::{Ending, Report, StageError, command};
use crate::layer::{Layer, LayerReport};
use crate::outcome::{End, KillCause};
use crate::streams::{Feed, Tap};
use crate::sys::{self, SysError};
use nix::errno::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, watch};

/// How long init may take beyond the leak window to clear up after the tool's end.
const CLEAR_PATIENCE: Duration = Duration::from_millis(500);
/// How long init may take to kill and report before it is killed itself.
const KILL_PATIENCE: Duration = Duration::from_millis(100);
/// How long a process in uninterruptible sleep is waited for.
const REAP_PATIENCE: Duration = Duration::from_secs(2);
/// How long the pipes are drained once everything that could write to them is dead.
const DRAIN: Duration = Duration::from_millis(100);
/// The longest grace of a cancelled call: who cancels has stopped waiting.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// A launched call, seen from the runner.
pub struct Live {
    /// Init's pidfd.
    pub pidfd: OwnedFd,
    /// The report socket's near end.
    pub report: OwnedFd,
    /// The lifeline: while it is open, the call may live.
    pub lifeline: OwnedFd,
    /// Standard input.
    pub feed: Feed,
    /// Standard output.
    pub stdout: Tap,
    /// Standard error.
    pub stderr: Tap,
}

/// What ends a call from outside.
pub struct Bounds<'a> {
    /// When SIGTERM is sent.
    pub deadline: Instant,
    /// The call's limits.
    pub limits: &'a Limits,
    /// True: the caller has cancelled.
    pub cancel: watch::Receiver<bool>,
}

/// What was seen.
#[derive(Default)]
pub struct Seen {
    /// A step of the set-up failed.
    pub failed: Option<StageError>,
    /// The program was executed.
    pub started: bool,
    /// How the tool ended.
    pub end: Option<End>,
    /// Init's last word.
    pub ending: Option<Ending>,
    /// What the runner did to end it, if it was first.
    pub killed_by: Option<KillCause>,
    /// SIGKILL followed SIGTERM.
    pub escalated: bool,
    /// Something is left in uninterruptible sleep.
    pub unreaped: bool,
    /// Layers that are less than whole.
    pub layers: Vec<(Layer, LayerReport)>,
    /// Read-only binds whose files keep their owners.
    pub unmapped: Vec<String>,
    /// The out folder.
    pub out: Option<OwnedFd>,
}

/// Streams and facts of a call that is over.
pub struct Over {
    /// The facts.
    pub seen: Seen,
    /// Standard input.
    pub feed: Feed,
    /// Standard output.
    pub stdout: Tap,
    /// Standard error.
    pub stderr: Tap,
}

/// Watches over a call until nothing of it is left, or until patience with what cannot be killed has ended.
///
/// # Errors
/// When the runtime cannot watch a descriptor; the call is then killed by the lifeline.
pub async fn supervise(live: Live, bounds: Bounds<'_>) -> Result<Over, SysError> {
    let Live { pidfd, report, lifeline, mut feed, mut stdout, mut stderr } = live;
    sys::nonblocking(report.as_fd())?;
    let report = client::watch(report, "report socket")?;
    let pidfd = client::watch(pidfd, "pidfd")?;
    let over = Notify::new();
    let seen = {
        let pumps = async { tokio::join!(feed.run(), stdout.run(Some(&over)), stderr.run(None)) };
        tokio::pin!(pumps);
        let watcher = Watcher { pidfd: &pidfd, report: &report, lifeline: &lifeline, over: &over };
        let life = watcher.run(bounds);
        tokio::pin!(life);
        let mut pumped = false;
        let seen = loop {
            tokio::select! {
                biased;
                seen = &mut life => break seen,
                _ = &mut pumps, if !pumped => pumped = true,
            }
        };
        if !pumped {
            let _ = tokio::time::timeout(DRAIN, &mut pumps).await;
        }
        seen
    };
    Ok(Over { seen, feed, stdout, stderr })
}

struct Watcher<'a> {
    pidfd: &'a AsyncFd<OwnedFd>,
    report: &'a AsyncFd<OwnedFd>,
    lifeline: &'a OwnedFd,
    over: &'a Notify,
}

/// How far the ending of a call has gone, and when it goes on.
enum Phase {
    /// Until the deadline.
    Running(Instant),
    /// SIGTERM has been sent; SIGKILL follows.
    Terminating(Instant),
    /// Init has been told to kill; it is killed next.
    Killing(Instant),
    /// Init has been killed; only uninterruptible sleep can hold it.
    Reaping(Instant),
}

impl Phase {
    fn until(&self) -> Instant {
        match self {
            Phase::Running(at) | Phase::Terminating(at) | Phase::Killing(at) | Phase::Reaping(at) => *at,
        }
    }
}

impl Watcher<'_> {
    async fn run(&self, bounds: Bounds<'_>) -> Seen {
        let mut seen = Seen::default();
        let mut cancel = bounds.cancel;
        let grace = Duration::from_millis(bounds.limits.grace_ms);
        let mut phase = Phase::Running(bounds.deadline);
        let mut reporting = true;
        loop {
            let running = matches!(phase, Phase::Running(_)) && seen.end.is_none();
            tokio::select! {
                biased;
                message = next_report(self.report), if reporting => match message {
                    Some((message, fd)) => {
                        let ended = matches!(message, Report::ToolEnded(_));
                        note(&mut seen, message, fd);
                        if ended && matches!(phase, Phase::Running(_)) {
                            // Init clears up what is left in a moment of its own; longer than that is killed.
                            let window = Duration::from_millis(bounds.limits.leak_window_ms);
                            phase = Phase::Terminating(Instant::now() + window + CLEAR_PATIENCE);
                        }
                    }
                    None => reporting = false,
                },
                _ = self.pidfd.readable() => {
                    self.drain(&mut seen);
                    sys::reap_pidfd(self.pidfd.get_ref().as_fd());
                    return seen;
                }
                () = cancelled(&mut cancel), if running => {
                    seen.killed_by = Some(KillCause::Cancelled);
                    phase = self.terminate(grace.min(CANCEL_GRACE));
                }
                () = self.over.notified(), if running => {
                    seen.killed_by = Some(KillCause::OutputLimit);
                    phase = self.kill();
                }
                () = tokio::time::sleep_until(phase.until().into()) => {
                    phase = match phase {
                        Phase::Running(_) => {
                            // A runner that was stopped itself finds both at once: what the tool did came first.
                            self.drain(&mut seen);
                            if seen.end.is_none() {
                                seen.killed_by = Some(KillCause::Deadline);
                            }
                            self.terminate(grace)
                        }
                        Phase::Terminating(_) => {
                            seen.escalated = seen.end.is_none();
                            self.kill()
                        }
                        Phase::Killing(_) => {
                            let _ = sys::pidfd_kill(self.pidfd.get_ref().as_fd(), libc::SIGKILL);
                            Phase::Reaping(Instant::now() + REAP_PATIENCE)
                        }
                        Phase::Reaping(_) => {
                            seen.unreaped = true;
                            return seen;
                        }
                    };
                }
            }
        }
    }

    /// Notes whatever has been reported.
    fn drain(&self, seen: &mut Seen) {
        while let Some((message, fd)) = take_report(self.report).ok().flatten() {
            note(seen, message, fd);
        }
    }

    fn terminate(&self, grace: Duration) -> Phase {
        let _ = nix::unistd::write(self.lifeline, &[command::TERM]);
        Phase::Terminating(Instant::now() + grace)
    }

    fn kill(&self) -> Phase {
        let _ = nix::unistd::write(self.lifeline, &[command::KILL]);
        Phase::Killing(Instant::now() + KILL_PATIENCE)
    }
}

async fn cancelled(cancel: &mut watch::Receiver<bool>) {
    // A sender that is gone can no longer cancel.
    if cancel.wait_for(|cancelled| *cancelled).await.is_err() {
        std::future::pending().await
    }
}

fn note(seen: &mut Seen, message: Report, fd: Option<OwnedFd>) {
    match message {
        Report::Layer(layer, report) => seen.layers.push((layer, report)),
        Report::Out => seen.out = fd,
        Report::Unmapped(path) => seen.unmapped.push(path),
        Report::Started => seen.started = seen.failed.is_none(),
        Report::Failed(error) => {
            seen.failed.get_or_insert(error);
        }
        Report::ToolEnded(end) => seen.end = Some(end),
        Report::Ended(ending) => {
            seen.end.get_or_insert(ending.end);
            if ending.overdue && seen.killed_by.is_none() {
                // This process was held up beyond the deadline: init did in its place what it would have done.
                seen.killed_by = Some(KillCause::Deadline);
                seen.escalated = true;
            }
            seen.ending = Some(ending);
        }
    }
}

/// Waits until nobody holds the far end of a report socket any more.
pub async fn until_closed(report: OwnedFd) {
    if sys::nonblocking(report.as_fd()).is_err() {
        return;
    }
    if let Ok(report) = client::watch(report, "report socket") {
        while next_report(&report).await.is_some() {}
    }
}

type Message = (Report, Option<OwnedFd>);

async fn next_report(report: &AsyncFd<OwnedFd>) -> Option<Message> {
    loop {
        let mut ready = report.readable().await.ok()?;
        match take_report(report) {
            Err(Errno::EAGAIN) => ready.clear_ready(),
            taken => return taken.ok().flatten(),
        }
    }
}

/// The next report; None at the end of file.
fn take_report(report: &AsyncFd<OwnedFd>) -> Result<Option<Message>, Errno> {
    let mut bytes = [0u8; 16 * 1024];
    let (length, mut fds) = sys::receive(report.as_fd(), &mut bytes)?;
    Ok(serde_json::from_slice(&bytes[..length]).ok().map(|message| (message, fds.pop())))
}
