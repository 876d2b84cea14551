//! A progress bar for a probe, on standard error if that is a terminal.

use std::io::IsTerminal as _;

use photic_probe::ProbeProgress;

use crate::style;

/// Width of the bar in characters.
const WIDTH: u32 = 30;

/// A progress bar, or nothing without a terminal.
pub(super) struct Bar {
    shown: bool,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal() }
    }

    pub(super) fn show(&self, progress: &ProbeProgress) {
        if self.shown {
            style::progress(&format!("\r\u{1b}[K{}", line(progress)));
        }
    }

    pub(super) fn clear(&self) {
        if self.shown {
            style::progress("\r\u{1b}[K");
        }
    }
}

/// Describes the progress in one line.
fn line(progress: &ProbeProgress) -> String {
    let ProbeProgress { done, total, trying } = progress;
    let full = done * WIDTH / (*total).max(1);
    let (full, empty) = ("━".repeat(full as usize), "─".repeat((WIDTH - full.min(WIDTH)) as usize));
    format!("{full}{empty} {done} of {total}, {trying}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_work_is_done() {
        let line = |done| line(&ProbeProgress { done, total: 60, trying: "hoisted".to_owned() });
        assert_eq!(line(0), format!("{} 0 of 60, hoisted", "─".repeat(30)));
        assert_eq!(line(30), format!("{}{} 30 of 60, hoisted", "━".repeat(15), "─".repeat(15)));
        assert_eq!(line(60), format!("{} 60 of 60, hoisted", "━".repeat(30)));
    }
}
