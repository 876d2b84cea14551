//! Counts of repaired requests, for a program that embeds the gateway.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Counts of the requests and fixes of a gateway since it started.
#[derive(Debug, Default)]
pub struct Tally {
    requests: AtomicU64,
    changed: AtomicU64,
    bytes_in: AtomicU64,
    bytes_sent: AtomicU64,
    /// Microseconds from the beginning of requests until they were ready to be sent.
    preparing: AtomicU64,
    fixes: Mutex<BTreeMap<&'static str, u64>>,
    retired: Mutex<BTreeMap<&'static str, Retired>>,
    passed: Mutex<BTreeMap<&'static str, u64>>,
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

    /// Returns the bytes of all turns, as they came in and as they were sent. A turn that is sent again
    /// counts once.
    pub fn bytes(&self) -> (u64, u64) {
        (self.bytes_in.load(Ordering::Relaxed), self.bytes_sent.load(Ordering::Relaxed))
    }

    /// Returns the time that all turns took until they were ready to be sent. It contains the time in
    /// which the client sent its body.
    pub fn preparing(&self) -> Duration {
        Duration::from_micros(self.preparing.load(Ordering::Relaxed))
    }

    /// Counts the cost of a turn that is about to be sent.
    pub(crate) fn add_cost(&self, bytes_in: u64, bytes_sent: u64, preparing: Duration) {
        self.bytes_in.fetch_add(bytes_in, Ordering::Relaxed);
        self.bytes_sent.fetch_add(bytes_sent, Ordering::Relaxed);
        let micros = u64::try_from(preparing.as_micros()).unwrap_or(u64::MAX);
        self.preparing.fetch_add(micros, Ordering::Relaxed);
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

    /// Returns the counts of requests that could hold pictures and were passed on unread, by the
    /// reasons in `x-photic-passed`.
    pub fn passed(&self) -> BTreeMap<&'static str, u64> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request that was passed on unread.
    pub(crate) fn pass(&self, reason: &'static str) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        *passed.entry(reason).or_default() += 1;
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
        tally.add_cost(10, 7, Duration::from_micros(3));
        tally.add_cost(1, 1, Duration::from_micros(4));
        assert_eq!((tally.bytes(), tally.preparing()), ((11, 8), Duration::from_micros(7)));
        assert_eq!(tally.fixes(), BTreeMap::from([("hoisted", 3), ("remade", 1)]));
    }
}
