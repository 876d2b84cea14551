//! Pictures, the questions about them, and the score of an answer.
//!
//! The questions are fixed word by word: a model in CI is trained on them.

use photic_pixels::Raster;
use photic_pixels::chart::{Chart, Code, PALETTE, code, colors};
use serde::{Deserialize, Serialize};

/// Phrases by which a model says that it sees nothing.
const DENIALS: [&str; 12] = [
    "no picture",
    "no image",
    "not shown",
    "cannot see",
    "can't see",
    "can’t see",
    "don't see",
    "don’t see",
    "do not see",
    "not see",
    "unable to",
    "have not seen",
];

/// The task of reading a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// The colors of a grid.
    Grid {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// The characters of a code.
    Code {
        /// The number of characters.
        length: usize,
    },
}

/// A picture whose content cannot be guessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// A grid of colors.
    Grid(Chart),
    /// A code.
    Code(Code),
}

impl Task {
    /// The question, the same for every picture.
    pub fn question(self) -> String {
        match self {
            Self::Grid { rows, columns } => {
                let names: Vec<&str> = PALETTE.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                format!(
                    "The picture is a grid of {rows} rows and {columns} columns of colored cells. \
                     Name the color of every cell, row by row from the top, left to right. Use \
                     only these names: {names}. Answer with the names only, separated by commas. \
                     If you see no picture, answer: no picture."
                )
            }
            Self::Code { length } => format!(
                "Read the code in the picture. Answer with its {length} characters only. If you \
                 see no picture, answer: no picture."
            ),
        }
    }

    /// The picture of a seed.
    pub fn picture(self, seed: u64) -> Picture {
        match self {
            Self::Grid { rows, columns } => Picture::Grid(Chart::grid(seed, rows, columns)),
            Self::Code { length } => Picture::Code(Code::of(seed, length)),
        }
    }

    /// The number of things to name.
    pub fn cells(self) -> u32 {
        match self {
            Self::Grid { rows, columns } => (rows * columns) as u32,
            Self::Code { length } => length as u32,
        }
    }

    /// The probability of guessing each.
    pub fn chance(self) -> f64 {
        match self {
            Self::Grid { .. } => Chart::chance(),
            Self::Code { .. } => Code::chance(),
        }
    }

    /// Returns `true` if an answer claims that a picture was seen.
    pub fn is_claimed_by(self, said: &str) -> bool {
        let lower = said.to_lowercase();
        if DENIALS.iter().any(|words| lower.contains(words)) {
            return false;
        }
        match self {
            Self::Grid { .. } => colors(said).len() * 2 >= self.cells() as usize,
            Self::Code { length } => code(said, length).is_some(),
        }
    }
}

impl Picture {
    /// Counts the things that an answer names correctly, each at its position.
    pub fn hits(&self, said: &str) -> u32 {
        match self {
            Self::Grid(chart) => chart.hits(said),
            Self::Code(code) => code.hits(said),
        }
    }

    /// The correct answer.
    pub fn words(&self) -> String {
        match self {
            Self::Grid(chart) => chart.words(),
            Self::Code(code) => code.text().to_owned(),
        }
    }

    /// Draws the picture.
    pub(crate) fn draw(&self, side: u32) -> Raster {
        match self {
            Self::Grid(chart) => chart.draw(side, side),
            Self::Code(code) => code.draw(side, side),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_questions_are_these_words() {
        assert_eq!(
            Task::Grid { rows: 2, columns: 3 }.question(),
            "The picture is a grid of 2 rows and 3 columns of colored cells. Name the color of \
             every cell, row by row from the top, left to right. Use only these names: red, green, \
             blue, yellow, orange, purple, cyan, pink, white, black, brown, gray, magenta, teal, \
             lime, navy. Answer with the names only, separated by commas. If you see no picture, \
             answer: no picture."
        );
        assert_eq!(
            Task::Code { length: 5 }.question(),
            "Read the code in the picture. Answer with its 5 characters only. If you see no \
             picture, answer: no picture."
        );
    }

    #[test]
    fn claims() {
        let (grid, code) = (Task::Grid { rows: 2, columns: 2 }, Task::Code { length: 5 });
        assert!(grid.is_claimed_by("red, green, blue, white"));
        assert!(code.is_claimed_by("The code is K7PQX."));
        for honest in ["no picture", "I see no image.", "There is no picture here.", "…", ""] {
            assert!(!grid.is_claimed_by(honest) && !code.is_claimed_by(honest), "{honest}");
        }
        assert!(!grid.is_claimed_by("I cannot see it, so I will not say red or green."));
    }
}
