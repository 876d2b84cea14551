//! Progress of a batch on standard error: a line that is redrawn in a terminal, otherwise a line
//! every 30 seconds.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use photic_tools::Progress;

use crate::style::{self, grouped};

/// Shortest time between two redraws in a terminal.
const TICK: Duration = Duration::from_millis(100);
/// Time between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Shows the progress of a batch.
pub(super) struct BatchProgress {
    watched: bool,
    priced: Priced,
    began: Instant,
    state: Mutex<State>,
}

/// Tells whether the price of tokens is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priced {
    Yes,
    No,
}

/// The last progress and the time it was drawn.
struct State {
    last: Progress,
    /// Number of answers from earlier runs.
    before: Option<u64>,
    drawn: Instant,
}

impl BatchProgress {
    pub(super) fn new(has_price: bool) -> Self {
        let (watched, began) = (std::io::stderr().is_terminal(), Instant::now());
        let state = State { last: Progress::default(), before: None, drawn: began };
        let priced = if has_price { Priced::Yes } else { Priced::No };
        Self { watched, priced, began, state: Mutex::new(state) }
    }

    /// Shows new progress.
    pub(super) fn at(&self, progress: Progress) {
        let mut state = self.state();
        state.last = progress;
        let before = *state.before.get_or_insert(progress.done);
        let every = if self.watched { TICK } else { LOG_INTERVAL };
        if state.drawn.elapsed() < every {
            return;
        }
        state.drawn = Instant::now();
        let words = words(&progress, before, self.began.elapsed(), self.priced);
        if self.watched {
            style::progress(&format!("\r\u{1b}[K{words}"));
        } else {
            style::progress(&format!("{words}\n"));
        }
    }

    /// The last progress.
    pub(super) fn last(&self) -> Progress {
        self.state().last
    }

    /// Prints a message between two updates.
    pub(super) fn say(&self, words: &str) {
        self.end();
        style::progress(&format!("{words}\n"));
    }

    /// Removes the line.
    pub(super) fn end(&self) {
        if self.watched {
            style::progress("\r\u{1b}[K");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes the progress in one line.
fn words(progress: &Progress, before: u64, since: Duration, priced: Priced) -> String {
    let Progress { items, done, spent, .. } = *progress;
    let mut words = format!("{} of {}", grouped(done), grouped(items));
    let new = done.saturating_sub(before);
    let rate = new as f64 / since.as_secs_f64().max(0.001);
    if new > 0 {
        let _ = write!(words, " · {rate:.1} per second");
    }
    if priced == Priced::Yes {
        let _ = write!(words, " · {spent}");
    }
    if new > 0 && done < items {
        let left = Duration::try_from_secs_f64((items - done) as f64 / rate);
        let _ = write!(words, " · {} left", span(left.unwrap_or(Duration::MAX)));
    }
    if progress.is_waiting {
        words += " · rate limited by the provider";
    }
    words
}

/// A duration in its two largest units.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use photic_store::Usd;

    use super::*;

    #[test]
    fn the_line_says_how_many_how_fast_how_dear_and_how_long() {
        let progress = Progress {
            items: 2000,
            done: 1200,
            asked: 700,
            spent: Usd::dollars(1.32),
            is_waiting: false,
        };
        let minute = Duration::from_mins(1);
        let line = words(&progress, 600, minute, Priced::Yes);
        assert_eq!(line, "1,200 of 2,000 · 10.0 per second · $1.32 · 1 min 20 s left");
        let first = Progress { done: 600, is_waiting: true, ..progress };
        let line = words(&first, 600, minute, Priced::No);
        assert_eq!(line, "600 of 2,000 · rate limited by the provider");
        let spans = [5, 65, 3700, 200_000].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(spans, ["5 s", "1 min 5 s", "1 h 1 min", "2 days"]);
    }
}
