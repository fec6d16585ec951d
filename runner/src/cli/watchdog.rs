//! The answer where none comes: a call is prepared by reading files, and a file system may never answer. The thread that
//! hangs there cannot be helped, so another one speaks.

use super::print;
use crate::envelope::Origin;
use crate::human;
use crate::patience::Patience;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::runner::{Identity, refuse};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How often it looks. Nearly all calls are prepared before it has looked once.
const LOOK: Duration = Duration::from_millis(50);

/// A call that is being prepared.
pub struct Watched {
    /// Who the call is.
    pub identity: Identity,
    /// When the request was accepted.
    pub accepted: Instant,
    /// How long preparing may take.
    pub patience: Patience,
    /// Whether the envelope is indented.
    pub pretty: bool,
}

static WATCHED: OnceLock<Watched> = OnceLock::new();

/// Starts the thread, which does `first` and then waits for a call to watch. Where no thread can be had the call is made
/// without.
pub fn start(first: impl FnOnce() + Send + 'static) {
    let watch = move || {
        first();
        while WATCHED.get().is_none_or(|watched| !watched.patience.is_settled()) {
            std::thread::sleep(LOOK);
            if let Some(watched) = WATCHED.get().filter(|watched| watched.patience.expire()) {
                std::process::exit(i32::from(answer(watched)));
            }
        }
    };
    let _ = std::thread::Builder::new().stack_size(256 * 1024).spawn(watch);
}

/// Has a call watched until it is prepared, and answered with a timeout when that takes too long.
pub fn watch(watched: Watched) {
    let _ = WATCHED.set(watched);
}

fn answer(watched: &Watched) -> u8 {
    let elapsed = u64::try_from(watched.accepted.elapsed().as_millis()).unwrap_or(u64::MAX);
    let message = format!(
        "after {} the call was not prepared: a file of the configuration, the registry or the input could not be read",
        human::millis(elapsed)
    );
    let refusal =
        Refusal::new(Reason::Timeout, message).hint("look for a network or FUSE file system that does not answer");
    let mut envelope = refuse(&watched.identity, watched.accepted, &refusal);
    // No tool has run: the host keeps its files back.
    envelope.error.iter_mut().for_each(|error| error.origin = Origin::Host);
    print(&envelope, watched.pretty)
}
