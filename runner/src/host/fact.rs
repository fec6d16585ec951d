//! A fact that is found by doing, and only when somebody asks.

use std::sync::{Arc, Mutex, PoisonError};

type Found = Result<(), String>;
type Trial = dyn Fn() -> Found + Send + Sync;
type Lesson = dyn Fn(&Found) + Send + Sync;

/// Whether something is to be had: yes, or no with the reason.
#[derive(Clone)]
pub struct Fact(Arc<Inner>);

struct Inner {
    found: Mutex<Option<Found>>,
    trial: Option<Box<Trial>>,
    lesson: Option<Box<Lesson>>,
}

impl Fact {
    /// Known already.
    pub fn known(found: Found) -> Self {
        Self(Arc::new(Inner { found: Mutex::new(Some(found)), trial: None, lesson: None }))
    }

    /// Found by `trial` when it is asked for first. `lesson` is told when a call finds out otherwise.
    pub fn by(
        trial: impl Fn() -> Found + Send + Sync + 'static,
        lesson: impl Fn(&Found) + Send + Sync + 'static,
    ) -> Self {
        let (trial, lesson): (Box<Trial>, Box<Lesson>) = (Box::new(trial), Box::new(lesson));
        Self(Arc::new(Inner { found: Mutex::new(None), trial: Some(trial), lesson: Some(lesson) }))
    }

    /// The fact.
    ///
    /// # Errors
    /// Why it is not to be had, for people.
    pub fn get(&self) -> Found {
        let mut found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert_with(|| self.0.trial.as_ref().map_or(Ok(()), |trial| trial())).clone()
    }

    /// A call has found out otherwise.
    pub fn contradict(&self, why: String) {
        let found = Err(why);
        self.0.lesson.iter().for_each(|lesson| lesson(&found));
        *self.0.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }
}

impl std::fmt::Debug for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fact").field(&*self.0.found.lock().unwrap_or_else(PoisonError::into_inner)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn it_is_tried_once_and_only_when_asked_for() {
        static TRIED: AtomicU32 = AtomicU32::new(0);
        let trial = || {
            TRIED.fetch_add(1, Ordering::Relaxed);
            Err("no".to_owned())
        };
        let fact = Fact::by(trial, |_| ());
        let other = fact.clone();
        assert_eq!(TRIED.load(Ordering::Relaxed), 0);
        assert_eq!((fact.get(), other.get()), (Err("no".to_owned()), Err("no".to_owned())));
        assert_eq!(TRIED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_a_call_finds_out_outranks_what_was_thought() {
        let fact = Fact::known(Ok(()));
        fact.contradict("clone: EPERM".to_owned());
        assert_eq!(fact.get(), Err("clone: EPERM".to_owned()));
    }
}
