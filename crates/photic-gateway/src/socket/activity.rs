//! The signs of life of an upstream.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that a side has to read in a second, at least.
const MIN_RATE: u64 = 4 << 10;

/// The time of the last sign of life of an upstream, and the messages that are being written.
#[derive(Debug)]
pub(super) struct Activity(Mutex<State>);

#[derive(Debug)]
struct State {
    last: Instant,
    /// Bytes of the messages that are being written.
    writing: u64,
}

/// Notes that a message is being written, until it is dropped.
#[derive(Debug)]
pub(super) struct Writing<'a> {
    activity: &'a Activity,
    bytes: u64,
}

impl Activity {
    /// Creates it with a sign of life now.
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { last: Instant::now(), writing: 0 }))
    }

    /// Notes a sign of life.
    pub(super) fn touch(&self) {
        self.lock().last = Instant::now();
    }

    /// Notes that a message of so many bytes is being written. Nothing is read meanwhile, so the
    /// upstream may seem silent for longer, and its time begins again afterwards.
    pub(super) fn writing(&self, bytes: usize) -> Writing<'_> {
        let bytes = bytes as u64;
        self.lock().writing += bytes;
        Writing { activity: self, bytes }
    }

    /// Returns `true` if the last sign of life is longer ago than the upstream may be silent for.
    pub(super) fn is_silent(&self, silence: Duration) -> bool {
        let state = self.lock();
        state.last.elapsed() > state.allowed(silence)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the longest pause until the next sign of life.
    fn allowed(&self, silence: Duration) -> Duration {
        silence.saturating_add(Duration::from_secs(self.writing / MIN_RATE))
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut state = self.activity.lock();
        state.writing -= self.bytes;
        state.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_written_gets_time_by_its_size() {
        let activity = Activity::new();
        let allowed = || activity.lock().allowed(Duration::from_mins(5));
        let before = activity.lock().last;
        assert_eq!(allowed(), Duration::from_mins(5));
        let writing = [activity.writing(20 << 20), activity.writing(4 << 10)];
        assert_eq!(allowed(), Duration::from_secs(300 + 5120 + 1));
        assert_eq!(activity.lock().last, before, "the beginning of a write is no sign of life");
        drop(writing);
        assert_eq!(allowed(), Duration::from_mins(5));
        assert!(activity.lock().last >= before);
        assert!(!activity.is_silent(Duration::MAX));
    }
}
