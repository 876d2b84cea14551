//! Rate control: as many concurrent questions as the provider bears, and none while it requests a
//! pause.
//!
//! This module computes waits and does not sleep. After an overload the concurrency is halved; it
//! grows by one after as many answers. Random parts come from a seed, so that tests are
//! reproducible.

use std::time::{Duration, Instant};

/// First wait if a provider does not name one. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Longest such wait.
const MAX_WAIT: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Pace {
    most: usize,
    lanes: usize,
    /// Answers since the last change.
    well: usize,
    /// No question is asked before this time.
    until: Option<Instant>,
    /// Consecutive failures.
    failures: usize,
    seed: u64,
}

impl Pace {
    pub(super) fn new(most: usize, seed: u64) -> Self {
        let most = most.max(1);
        Self { most, lanes: most, well: 0, until: None, failures: 0, seed }
    }

    /// Returns the current limit of concurrent questions.
    pub(super) const fn lanes(&self) -> usize {
        self.lanes
    }

    /// Returns the time to wait before the next question.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let left = self.until?.checked_duration_since(now)?;
        (!left.is_zero()).then_some(left)
    }

    /// Records an answer.
    pub(super) fn went_well(&mut self) {
        self.failures = 0;
        self.well += 1;
        if self.well >= self.lanes && self.lanes < self.most {
            self.lanes += 1;
            self.well = 0;
        }
    }

    /// Records an overload. All questions wait as long as the provider asks.
    pub(super) fn too_much(&mut self, now: Instant, asked: Option<Duration>, attempt: u32) {
        // Several running questions report the same overload at once; it counts once.
        if self.wait(now).is_none() {
            self.lanes = (self.lanes / 2).max(1);
        }
        self.well = 0;
        let until = now + asked.unwrap_or_else(|| self.backoff(attempt, 0));
        self.until = Some(self.until.map_or(until, |before| before.max(until)));
    }

    /// Records a failure. Returns the number of consecutive ones.
    pub(super) const fn gave_up(&mut self) -> usize {
        self.failures += 1;
        self.failures
    }

    /// Returns the wait before a retry: it doubles with each attempt, and a random part of up to
    /// one half spreads the retries of many workers.
    pub(super) fn backoff(&self, attempt: u32, question: u64) -> Duration {
        let whole = FIRST_WAIT.saturating_mul(1 << attempt.min(16)).min(MAX_WAIT);
        let drawn = [self.seed, question, u64::from(attempt)];
        let drawn = blake3::hash(&drawn.map(u64::to_le_bytes).concat());
        let share = f64::from(drawn.as_bytes()[0]) / 255.0;
        whole.mul_f64(0.5 + share / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_differ_and_come_from_the_seed() {
        let pace = Pace::new(8, 7);
        for attempt in 0..12 {
            let whole = FIRST_WAIT.saturating_mul(1 << attempt).min(MAX_WAIT);
            let wait = pace.backoff(attempt, 3);
            assert!(wait >= whole / 2 && wait <= whole, "{attempt}: {wait:?} of {whole:?}");
            assert_eq!(wait, Pace::new(1, 7).backoff(attempt, 3));
        }
        let waits = |seed| (0..20).map(move |question| Pace::new(8, seed).backoff(4, question));
        let mut different: Vec<Duration> = waits(7).collect();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() > 15, "{different:?}");
        assert_ne!(waits(7).collect::<Vec<_>>(), waits(8).collect::<Vec<_>>());
    }

    #[test]
    fn a_provider_that_is_busy_is_left_alone_and_then_asked_less() {
        let (mut pace, now) = (Pace::new(8, 1), Instant::now());
        assert_eq!((pace.lanes(), pace.wait(now)), (8, None));
        let three = Duration::from_secs(3);
        pace.too_much(now, Some(three), 0);
        // Other running questions report it, too.
        for _ in 0..5 {
            pace.too_much(now, Some(Duration::from_secs(1)), 0);
        }
        assert_eq!((pace.lanes(), pace.wait(now)), (4, Some(three)));
        assert_eq!(pace.wait(now + three), None);
        for _ in 0..4 {
            pace.went_well();
        }
        assert_eq!(pace.lanes(), 5);
        (0..100).for_each(|_| pace.went_well());
        assert_eq!(pace.lanes(), 8);
        for second in 1..9 {
            pace.too_much(now + three * second, None, 0);
        }
        assert_eq!(pace.lanes(), 1);
    }

    #[test]
    fn failures_count_in_a_row() {
        let mut pace = Pace::new(1, 1);
        assert_eq!([pace.gave_up(), pace.gave_up()], [1, 2]);
        pace.went_well();
        assert_eq!(pace.gave_up(), 1);
    }
}
