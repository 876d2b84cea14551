//! A progress bar for reading long files, on standard error if that is a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Size from which a file gets a progress bar.
const MIN_BYTES: u64 = 64 << 20;
/// Shortest time between two redraws.
const TICK: Duration = Duration::from_millis(100);
/// Width of the bar in characters.
const WIDTH: u64 = 30;

/// A progress bar, or nothing.
pub(super) struct Progress {
    /// Length of the file; `None` if nothing is drawn.
    total: Option<u64>,
    /// Number of bytes read at the last redraw.
    drawn: u64,
    last: Instant,
}

impl Progress {
    /// The progress bar of a file.
    pub(super) fn of(file: &Path) -> Self {
        let length = std::fs::metadata(file).map_or(0, |data| data.len());
        let is_shown = length >= MIN_BYTES && std::io::stderr().is_terminal();
        Self { total: is_shown.then_some(length), drawn: 0, last: Instant::now() }
    }

    /// Shows how many bytes have been read.
    pub(super) fn at(&mut self, done: u64) {
        let Some(total) = self.total else { return };
        // The clock is read rarely: there are many lines.
        if done < self.drawn + (1 << 20) || self.last.elapsed() < TICK {
            return;
        }
        (self.drawn, self.last) = (done, Instant::now());
        let full = (done * WIDTH / total.max(1)).min(WIDTH) as usize;
        let bar = "█".repeat(full) + &"░".repeat(WIDTH as usize - full);
        write(&format!("\r\u{1b}[K{bar} {} of {} MB", done >> 20, total >> 20));
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if self.total.is_some() && self.drawn > 0 {
            write("\r\u{1b}[K");
        }
    }
}

/// Writes to standard error. A failure is ignored: the work does not depend on it.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
