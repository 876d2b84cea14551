//! A counter that many threads write without waiting for each other.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is changed atomically and read for metrics.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Creates a counter at zero.
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds to the number.
    pub(crate) fn add(&self, count: u64) {
        if count > 0 {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Subtracts from the number.
    pub(crate) fn subtract(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns the number.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
