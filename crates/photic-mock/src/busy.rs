//! A provider that has too much to do now and then, and notes who does not leave it alone.

use std::time::{Duration, Instant};

use crate::journal::Entry;

/// How long it is busy.
const LONG: Duration = Duration::from_secs(1);
/// Longer than a request is on its way that was sent before its sender knew.
const UNDER_WAY: Duration = Duration::from_millis(500);

/// When it last said so.
#[derive(Debug, Default)]
pub(crate) struct Busy(Option<Instant>);

impl Busy {
    /// Whether a request is one too many; who asks again before the time is over is noted.
    pub(crate) fn refuses(&mut self, entry: &mut Entry) -> bool {
        let still = self.0.map(|said| said.elapsed()).filter(|since| *since < LONG);
        if still.is_some_and(|since| since > UNDER_WAY) {
            entry.violations.push("too_early".to_owned());
        }
        let again = still.is_none() && entry.number.is_multiple_of(10);
        if again {
            self.0 = Some(Instant::now());
        }
        again || still.is_some()
    }
}
