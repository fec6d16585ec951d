//! The wait for the launcher, which no call may hang on.

use super::{Attempt, ended};
use crate::cell::client::{Descriptors, Launcher};
use crate::cell::protocol::Launch;
use crate::outcome::StartFailure;
use crate::start_failure::from_stage;
use crate::supervise::until_closed;
use crate::sys::{self, Reaped};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long a launch that is under way is awaited when the caller cancels. It is nearly always done in a moment; giving
/// it up takes the launcher from every other call.
const LAUNCH_PATIENCE: Duration = Duration::from_millis(500);
/// How long an init that nobody was told of is awaited. It has nothing to wait for itself.
const LOST_PATIENCE: Duration = Duration::from_millis(150);

/// Has the launcher start the call. Whatever the launcher does, this ends: it may hang on a file system that does not
/// answer, and is then given up. A call that is only waiting for its turn is over without harm to any other.
pub async fn start(
    launcher: &Launcher,
    attempt: &Attempt<'_>,
    launch: &Launch,
    fds: Descriptors,
) -> Result<OwnedFd, StartFailure> {
    let turn = tokio::select! {
        biased;
        turn = launcher.turn() => turn,
        () = over(attempt, Duration::ZERO, Duration::ZERO) => return Err(ended()),
    };
    let grace = Duration::from_millis(attempt.call.limits.grace_ms);
    tokio::select! {
        biased;
        launched = turn.launch(launch, fds) => launched.map_err(|error| from_stage(&launcher.explain(error))),
        () = over(attempt, LAUNCH_PATIENCE, grace) => {
            launcher.kill();
            Err(ended())
        }
    }
}

/// Until this long after the call was cancelled, or this long after its deadline.
async fn over(attempt: &Attempt<'_>, after_cancel: Duration, after_deadline: Duration) {
    let mut cancel = attempt.cancel.clone();
    let cancelled = async {
        if cancel.wait_for(|cancelled| *cancelled).await.is_err() {
            // A sender that is gone can no longer cancel.
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(after_cancel).await;
    };
    tokio::select! {
        () = cancelled => {}
        () = tokio::time::sleep_until((attempt.deadline + after_deadline).into()) => {}
    }
}

/// After a launch that failed: an init may have been born all the same, and nobody has its pidfd. Without the lifeline
/// it ends itself; it is waited for, so that not even its name is left.
pub async fn lost(report: OwnedFd, lifeline: OwnedFd) {
    drop(lifeline);
    let until = Instant::now() + LOST_PATIENCE;
    // Its end of the socket is the last thing that is closed before it is a zombie.
    let _ = tokio::time::timeout(LOST_PATIENCE, until_closed(report)).await;
    while matches!(sys::reap_an_init(), Reaped::Nothing) && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
