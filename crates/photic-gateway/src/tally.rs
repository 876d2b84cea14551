//! What was done so far, in counts, for whoever runs the gateway in its own process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a gateway has done since it started.
#[derive(Debug, Default)]
pub struct Tally {
    requests: AtomicU64,
    changed: AtomicU64,
    fixes: Mutex<BTreeMap<&'static str, u64>>,
}

impl Tally {
    /// Turns of conversations that were answered.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// How many of them needed something.
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// What was done how often, by the names in `x-photic-fixed`. An image that is sent again every
    /// turn counts every turn.
    pub fn fixes(&self) -> BTreeMap<&'static str, u64> {
        self.fixes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request. Nothing is locked for one that was fine.
    pub(crate) fn add(&self, fixes: &BTreeMap<&'static str, usize>) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if fixes.is_empty() {
            return;
        }
        self.changed.fetch_add(1, Ordering::Relaxed);
        let mut total = self.fixes.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, count) in fixes {
            *total.entry(name).or_default() += *count as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_adds_up() {
        let tally = Tally::default();
        tally.add(&BTreeMap::new());
        tally.add(&BTreeMap::from([("hoisted", 2)]));
        tally.add(&BTreeMap::from([("hoisted", 1), ("remade", 1)]));
        assert_eq!((tally.requests(), tally.changed()), (3, 2));
        assert_eq!(tally.fixes(), BTreeMap::from([("hoisted", 3), ("remade", 1)]));
    }
}
