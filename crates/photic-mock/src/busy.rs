//! A provider that is overloaded from time to time, and notes clients that retry too early.

use std::time::{Duration, Instant};

use crate::journal::Entry;

/// Duration of an overload.
const OVERLOAD_TIME: Duration = Duration::from_secs(1);
/// Time after which a request cannot have been sent before its client knew.
const RETRY_GRACE: Duration = Duration::from_millis(500);

/// The time of the last overload.
#[derive(Debug, Default)]
pub(crate) struct Overload(Option<Instant>);

impl Overload {
    /// Returns `true` if the request is refused. A retry before the time is over is noted in the
    /// entry.
    pub(crate) fn refuses(&mut self, entry: &mut Entry) -> bool {
        let still = self.0.map(|said| said.elapsed()).filter(|since| *since < OVERLOAD_TIME);
        if still.is_some_and(|since| since > RETRY_GRACE) {
            entry.violations.push("too_early".to_owned());
        }
        let again = still.is_none() && entry.number.is_multiple_of(10);
        if again {
            self.0 = Some(Instant::now());
        }
        again || still.is_some()
    }
}
