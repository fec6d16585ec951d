//! The keys of one object, to find the one that comes twice.

use std::borrow::Cow;
use std::collections::HashSet;

/// Objects with more keys are kept in a hash set: comparing each with each would be quadratic.
const FEW: usize = 8;

/// The decoded keys of an object so far.
#[derive(Default)]
pub(super) struct Keys<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// False: the key is there already.
    pub(super) fn insert(&mut self, key: Cow<'a, str>) -> bool {
        if self.many.is_empty() && self.few.len() < FEW {
            let new = !self.few.contains(&key);
            self.few.push(key);
            return new;
        }
        self.many.extend(self.few.drain(..));
        self.many.insert(key)
    }
}
