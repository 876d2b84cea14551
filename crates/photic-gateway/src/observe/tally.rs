//! Counts of repaired requests, for a program that embeds the gateway.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts of the requests and fixes of a gateway since it started.
#[derive(Debug, Default)]
pub struct Tally {
    requests: AtomicU64,
    changed: AtomicU64,
    fixes: Mutex<BTreeMap<&'static str, u64>>,
    retired: Mutex<BTreeMap<&'static str, Retired>>,
}

/// Counts of media that were left out of requests for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Requests that left something out.
    pub requests: u64,
    /// Maximum number of media that a single request left out.
    pub most: u64,
}

impl Tally {
    /// Returns the number of turns that were answered.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of turns that were changed.
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// Returns the counts of fixes, by their names in `x-photic-fixed`. An image that is sent again in
    /// every turn counts in every turn.
    pub fn fixes(&self) -> BTreeMap<&'static str, u64> {
        self.fixes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the counts of media that were left out of requests, by reason.
    pub fn retired(&self) -> BTreeMap<&'static str, Retired> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request. Takes no lock if nothing was changed.
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
