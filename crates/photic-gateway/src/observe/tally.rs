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
    retired: Mutex<BTreeMap<&'static str, Retired>>,
}

/// What requests left out for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Requests that left something out.
    pub requests: u64,
    /// The most that a single one left out.
    pub most: u64,
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

    /// What was left out of requests for want of room, or by the policy, by reason.
    pub fn retired(&self) -> BTreeMap<&'static str, Retired> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request. Nothing is locked for one that was fine.
    pub(crate) fn add(
        &self,
        fixes: &BTreeMap<&'static str, usize>,
        retired: &BTreeMap<&'static str, usize>,
    ) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if !retired.is_empty() {
            let mut all = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
            for (reason, count) in retired {
                let reason = all.entry(reason).or_default();
                reason.requests += 1;
                reason.most = reason.most.max(*count as u64);
            }
        }
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
        let none = BTreeMap::new();
        tally.add(&none, &none);
        tally.add(&BTreeMap::from([("hoisted", 2)]), &BTreeMap::from([("over_count", 5)]));
        let both = BTreeMap::from([("hoisted", 1), ("remade", 1)]);
        tally.add(&both, &BTreeMap::from([("over_count", 3)]));
        let retired = Retired { requests: 2, most: 5 };
        assert_eq!(tally.retired(), BTreeMap::from([("over_count", retired)]));
        assert_eq!((tally.requests(), tally.changed()), (3, 2));
        assert_eq!(tally.fixes(), BTreeMap::from([("hoisted", 3), ("remade", 1)]));
    }
}
