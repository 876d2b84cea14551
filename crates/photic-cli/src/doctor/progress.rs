//! How far a long file was read, on standard error, where somebody watches.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files that are read faster than that need no bar.
const WORTH_SHOWING: u64 = 64 << 20;
const TICK: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

pub(super) struct Progress {
    /// Nothing where nobody watches.
    total: Option<u64>,
    /// How many bytes were read when it was drawn last.
    drawn: u64,
    last: Instant,
}

impl Progress {
    pub(super) fn of(file: &Path) -> Self {
        let length = std::fs::metadata(file).map_or(0, |data| data.len());
        let is_shown = length >= WORTH_SHOWING && std::io::stderr().is_terminal();
        Self { total: is_shown.then_some(length), drawn: 0, last: Instant::now() }
    }

    pub(super) fn at(&mut self, done: u64) {
        let Some(total) = self.total else { return };
        // The clock is asked only now and then: lines are many.
        if done < self.drawn + (1 << 20) || self.last.elapsed() < TICK {
            return;
        }
        (self.drawn, self.last) = (done, Instant::now());
        let full = (done * WIDTH / total.max(1)).min(WIDTH) as usize;
        let bar = "█".repeat(full) + &"░".repeat(WIDTH as usize - full);
        write(&format!("\r\u{1b}[K{bar} {} of {} MB", done >> 20, total >> 20));
    }

    pub(super) fn end(&self) {
        if self.total.is_some() && self.drawn > 0 {
            write("\r\u{1b}[K");
        }
    }
}

/// Whether anybody reads it does not matter to the work.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
