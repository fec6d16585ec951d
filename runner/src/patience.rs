//! How long the preparation of a call may take. Preparing reads files, and a file system may never answer: who prepares
//! learns how long the call may take, and somebody else has to watch.

use crate::call::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the verdict may take beyond deadline and grace; half of what the design allows.
const SLACK_MS: u64 = 100;

/// The moment by which a call has to be prepared; shared by who prepares and who watches. One of the two goes on from
/// there, never both.
#[derive(Clone, Debug)]
pub struct Patience {
    accepted: Instant,
    until_ms: Arc<AtomicU64>,
    state: Arc<AtomicU8>,
}

const PREPARING: u8 = 0;
const PREPARED: u8 = 1;
const EXPIRED: u8 = 2;

impl Patience {
    /// Until `wall_ms` and `grace_ms` after `accepted`, as long as nothing more is known.
    pub fn new(accepted: Instant, wall_ms: u64, grace_ms: u64) -> Self {
        let patience = Self { accepted, until_ms: Arc::default(), state: Arc::default() };
        patience.set(wall_ms, grace_ms);
        patience
    }

    fn set(&self, wall_ms: u64, grace_ms: u64) {
        let until = wall_ms.saturating_add(grace_ms).saturating_add(SLACK_MS);
        self.until_ms.store(until, Ordering::Relaxed);
    }

    /// The limits have become known.
    pub fn know(&self, limits: &Limits) {
        self.set(limits.wall_ms, limits.grace_ms);
    }

    /// Nobody is waiting for files: what is awaited now has a clock of its own.
    pub fn pause(&self) {
        self.until_ms.store(u64::MAX, Ordering::Relaxed);
    }

    /// Preparing goes on, however late it is: for as long as it could take from now on.
    pub fn resume(&self, wall_ms: u64, grace_ms: u64) {
        let elapsed = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.set(wall_ms.max(elapsed), grace_ms);
    }

    /// The call is prepared, or refused. False: too late, whoever watches has answered.
    pub fn prepared(&self) -> bool {
        self.state
            .compare_exchange(PREPARING, PREPARED, Ordering::AcqRel, Ordering::Acquire)
            .map_or_else(|state| state == PREPARED, |_| true)
    }

    /// Whether there is nothing left to watch.
    pub fn is_settled(&self) -> bool {
        self.state.load(Ordering::Acquire) != PREPARING
    }

    /// Whether the time is up, and whoever watches has to answer. True once.
    pub fn expire(&self) -> bool {
        let until = Duration::from_millis(self.until_ms.load(Ordering::Relaxed));
        self.accepted.elapsed() > until
            && self.state.compare_exchange(PREPARING, EXPIRED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_two_goes_on() {
        let over = Patience::new(Instant::now() - Duration::from_secs(1), 1, 1);
        assert!(over.expire());
        assert!(!over.expire() && !over.prepared() && over.is_settled());
        let done = Patience::new(Instant::now() - Duration::from_secs(1), 1, 1);
        assert!(done.prepared() && done.prepared());
        assert!(!done.expire() && done.is_settled());
    }

    #[test]
    fn a_pause_does_not_count_and_what_is_known_does() {
        let patience = Patience::new(Instant::now() - Duration::from_secs(1), 1, 1);
        patience.pause();
        assert!(!patience.expire());
        patience.resume(1, 60_000);
        assert!(!patience.expire());
        patience.set(0, 0);
        assert!(patience.expire());
    }
}
