//! The answer where none comes: a call is prepared by reading files, and a file system may never answer. The thread that
//! hangs there cannot be helped, so another one speaks.

use super::print;
use crate::envelope::Origin;
use crate::human;
use crate::patience::Patience;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::runner::{Identity, refuse};
use std::time::{Duration, Instant};

/// How often it looks. Nearly all calls are prepared before it has looked once.
const LOOK: Duration = Duration::from_millis(50);

/// Watches over the preparation of one call, and answers with a timeout when that takes too long. Where no thread can be
/// had the call is made without.
pub fn watch(identity: Identity, accepted: Instant, patience: Patience, pretty: bool) {
    let watch = move || {
        while !patience.is_settled() {
            std::thread::sleep(LOOK);
            if patience.expire() {
                let mut envelope = refuse(&identity, accepted, &late(accepted));
                // No tool has run: the host keeps its files back.
                envelope.error.iter_mut().for_each(|error| error.origin = Origin::Host);
                std::process::exit(i32::from(print(&envelope, pretty)));
            }
        }
    };
    let _ = std::thread::Builder::new().stack_size(256 * 1024).spawn(watch);
}

fn late(accepted: Instant) -> Refusal {
    let elapsed = u64::try_from(accepted.elapsed().as_millis()).unwrap_or(u64::MAX);
    let message = format!(
        "after {} the call was not prepared: a file of the configuration, the registry or the input could not be read",
        human::millis(elapsed)
    );
    Refusal::new(Reason::Timeout, message).hint("look for a network or FUSE file system that does not answer")
}
