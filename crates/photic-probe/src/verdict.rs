//! Judges answers by exact probabilities.
//!
//! Every cell and character is drawn independently, so the hits of a model that cannot see are a
//! sum of independent tries with known chances, whatever its strategy. No constant, lucky or late
//! answer passes as sight.

use photic_pixels::chart::chance_of_at_least;
use serde::{Deserialize, Serialize};

use crate::picture::Task;

/// Largest probability that counts as proof.
pub const PROOF: f64 = 1e-6;
/// Smallest probability that is compatible with guessing.
const CHANCE: f64 = 1e-3;
/// Share of cells that a model which sees names correctly.
const SEES: f64 = 0.9;
/// Share of cells that a model which reads badly names correctly.
const READS: f64 = 0.75;

/// The verdict about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The model sees pictures there.
    Sees,
    /// It sees parts of them: they are scaled, turned, mixed up or hard to read.
    Weak,
    /// It does not see them, although they are accepted.
    Blind,
    /// They are rejected.
    Rejects,
    /// The answers prove nothing.
    CannotTell,
}

impl Verdict {
    /// A description for people.
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

/// The number of correct answers, and the chances of guessing them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The number of things named correctly.
    pub hits: u32,
    /// The chance of guessing each thing.
    pub chances: Vec<f64>,
}

impl Score {
    /// Adds an answer.
    pub fn add(&mut self, task: Task, hits: u32) {
        self.hits += hits;
        self.chances.extend(std::iter::repeat_n(task.chance(), task.cells() as usize));
    }

    /// The number of things to name.
    pub fn cells(&self) -> u32 {
        self.chances.len() as u32
    }

    /// The probability of as many hits by chance.
    pub fn luck(&self) -> f64 {
        chance_of_at_least(self.hits, self.chances.iter().copied())
    }

    /// The probability of so few hits for a model that reads at all.
    fn chance_of_so_few(&self) -> f64 {
        let misses = self.cells() - self.hits;
        chance_of_at_least(misses, std::iter::repeat_n(1.0 - READS, self.chances.len()))
    }
}

/// Judges the answers to pictures, with the answers to the controls.
pub fn judge(shown: &Score, control: &Score) -> Verdict {
    if shown.chances.is_empty() || leaks(control) {
        return Verdict::CannotTell;
    }
    if shown.luck() <= PROOF {
        let all = f64::from(shown.cells());
        return if f64::from(shown.hits) >= SEES * all { Verdict::Sees } else { Verdict::Weak };
    }
    if shown.luck() > CHANCE && shown.chance_of_so_few() <= PROOF {
        return Verdict::Blind;
    }
    Verdict::CannotTell
}

/// Returns `true` if answers without a picture are correct too often: then no answer proves sight.
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
