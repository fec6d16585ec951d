//! A fact that is found by doing, and only when somebody asks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Found = Result<(), String>;
type Trial = dyn Fn(Trust) -> Found + Send + Sync;

/// Whether a trial may answer with what an earlier one has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It may.
    Memory,
    /// It has to look.
    Nothing,
}

/// Whether something is to be had: yes, or no with the reason.
#[derive(Clone)]
pub struct Fact(Arc<Inner>);

struct Inner {
    found: Mutex<Option<Found>>,
    trial: Box<Trial>,
}

impl Fact {
    /// Known already.
    pub fn known(found: Found) -> Self {
        let always = found.clone();
        Self(Arc::new(Inner { found: Mutex::new(Some(found)), trial: Box::new(move |_| always.clone()) }))
    }

    /// Found by `trial` when it is asked for first.
    pub fn by(trial: impl Fn(Trust) -> Found + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { found: Mutex::new(None), trial: Box::new(trial) }))
    }

    /// The fact.
    ///
    /// # Errors
    /// Why it is not to be had, for people.
    pub fn get(&self) -> Found {
        self.found().get_or_insert_with(|| (self.0.trial)(Trust::Memory)).clone()
    }

    /// The fact, looked for anew: something does not go with what was found.
    ///
    /// # Errors
    /// Why it is not to be had, for people.
    pub fn again(&self) -> Found {
        self.found().insert((self.0.trial)(Trust::Nothing)).clone()
    }

    fn found(&self) -> MutexGuard<'_, Option<Found>> {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fact").field(&*self.found()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn it_is_tried_once_and_only_when_asked_for() {
        static TRIED: AtomicU32 = AtomicU32::new(0);
        let trial = |trust| {
            assert_eq!(trust, Trust::Memory);
            TRIED.fetch_add(1, Ordering::Relaxed);
            Err("no".to_owned())
        };
        let fact = Fact::by(trial);
        let other = fact.clone();
        assert_eq!(TRIED.load(Ordering::Relaxed), 0);
        assert_eq!((fact.get(), other.get()), (Err("no".to_owned()), Err("no".to_owned())));
        assert_eq!(TRIED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_found_anew_replaces_what_was_found() {
        let fact = Fact::by(|trust| if trust == Trust::Memory { Ok(()) } else { Err("clone: EPERM".to_owned()) });
        assert_eq!(fact.get(), Ok(()));
        assert_eq!(fact.again(), Err("clone: EPERM".to_owned()));
        assert_eq!(fact.get(), Err("clone: EPERM".to_owned()));
        assert_eq!(Fact::known(Ok(())).again(), Ok(()));
    }
}
