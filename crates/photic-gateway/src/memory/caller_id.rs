//! Identifies callers for the memory budget.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

/// A caller, for the memory budget.
///
/// It is a keyed hash: it holds no key of the caller, and a caller cannot choose one that collides with
/// another caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallerId(u64);

/// Makes ids of callers.
#[derive(Debug, Default)]
pub(crate) struct CallerIds(RandomState);

impl CallerIds {
    /// Returns the id of a value that identifies a caller.
    pub(crate) fn of(&self, value: impl Hash) -> CallerId {
        CallerId(self.0.hash_one(value))
    }
}
