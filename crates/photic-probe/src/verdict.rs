//! What answers prove, by exact tails.
//!
//! Every cell and every character is drawn by itself, so the hits of whoever cannot see are a sum
//! of independent tries with known chances, whatever the strategy: no constant, lucky or belated
//! answer passes for sight.

use photic_pixels::chart::chance_of_at_least;
use serde::{Deserialize, Serialize};

use crate::picture::Task;

/// Luck this small is not luck.
pub const PROOF: f64 = 1e-6;
/// Hits this likely are compatible with guessing.
const CHANCE: f64 = 1e-3;
/// The share of cells that whoever sees names rightly.
const SEES: f64 = 0.9;
/// Whoever reads at all, if badly, names so many.
const READS: f64 = 0.75;

/// What a probe found about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The model sees pictures there.
    Sees,
    /// It gets something of them, but not all: they are scaled, turned, mixed up or hard to it.
    Weak,
    /// It does not see them, though they are taken.
    Blind,
    /// They are turned down.
    Rejects,
    /// The answers prove nothing.
    CannotTell,
}

impl Verdict {
    /// For people.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Sees => "sees",
            Self::Weak => "weak",
            Self::Blind => "blind",
            Self::Rejects => "rejects",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// Hits among things that could have been guessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Things that were named rightly.
    pub hits: u32,
    /// How likely each of them all was to be guessed.
    pub chances: Vec<f64>,
}

impl Score {
    /// Adds an answer.
    pub fn add(&mut self, task: Task, hits: u32) {
        self.hits += hits;
        self.chances.extend(std::iter::repeat_n(task.chance(), task.cells() as usize));
    }

    /// How many things there were to name.
    pub fn cells(&self) -> u32 {
        self.chances.len() as u32
    }

    /// How likely so many hits are without sight.
    pub fn luck(&self) -> f64 {
        chance_of_at_least(self.hits, self.chances.iter().copied())
    }

    /// How likely whoever reads at all has so few hits.
    fn misfortune(&self) -> f64 {
        let misses = self.cells() - self.hits;
        chance_of_at_least(misses, std::iter::repeat_n(1.0 - READS, self.chances.len()))
    }
}

/// Judges the answers to shown pictures beside those to the same questions without one.
pub fn judge(shown: &Score, control: &Score) -> Verdict {
    if shown.chances.is_empty() || leaks(control) {
        return Verdict::CannotTell;
    }
    if shown.luck() <= PROOF {
        let all = f64::from(shown.cells());
        return if f64::from(shown.hits) >= SEES * all { Verdict::Sees } else { Verdict::Weak };
    }
    if shown.luck() > CHANCE && shown.misfortune() <= PROOF {
        return Verdict::Blind;
    }
    Verdict::CannotTell
}

/// Whether pictures were known that nobody was shown: then no answer comes from looking.
pub fn leaks(control: &Score) -> bool {
    control.luck() <= CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Task = Task::Grid { rows: 3, columns: 3 };
    const CODE: Task = Task::Code { length: 5 };

    /// Two grids and two codes, with so many hits.
    fn score(hits: u32) -> Score {
        let mut score = Score { hits, ..Score::default() };
        for task in [GRID, CODE, GRID, CODE] {
            score.add(task, 0);
        }
        score
    }

    #[test]
    fn verdicts_by_hits() {
        for hits in 0..=28 {
            let expected = match hits {
                0..=6 => Verdict::Blind,
                7..=9 => Verdict::CannotTell,
                10..=25 => Verdict::Weak,
                _ => Verdict::Sees,
            };
            assert_eq!(judge(&score(hits), &score(1)), expected, "{hits} hits");
        }
    }

    #[test]
    fn knowing_what_nobody_was_shown_spoils_every_verdict() {
        for hits in 0..=28 {
            assert_eq!(judge(&score(hits), &score(9)), Verdict::CannotTell);
        }
    }

    #[test]
    fn one_grid_proves_sight_but_not_blindness() {
        let grid = |hits| {
            let mut score = Score::default();
            score.add(GRID, hits);
            score
        };
        assert_eq!(judge(&grid(9), &Score::default()), Verdict::Sees);
        assert_eq!(judge(&grid(0), &Score::default()), Verdict::CannotTell);
        assert_eq!(judge(&Score::default(), &Score::default()), Verdict::CannotTell);
    }
}
