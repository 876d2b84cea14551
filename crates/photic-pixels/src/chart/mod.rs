//! Charts: pictures whose right description cannot be guessed.
//!
//! Owns the palette, the grids and codes made from a seed, what is said about them, and how likely
//! that is by luck. A chart has two to four rows and columns of named colors. Those of a seed have
//! no equal neighbors, so that their grid can be read back from pixels alone, whatever was scaled or
//! compressed on the way ([`look`]); in those whose cells are drawn independently the lines tell it.
//! Draws no random number: who needs a chart that nobody can foresee brings the seed.

mod code;
mod dice;
mod glyphs;
mod luck;
mod read;
mod score;

use crate::encode::{EncodeOptions, Prefer, encode};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

pub use code::Code;
use dice::Dice;
pub use glyphs::ALPHABET;
pub use luck::at_least;
pub use read::{Sight, look};
pub use score::{code, colors};

/// The colors of a cell, far enough from each other to survive JPEG.
pub const PALETTE: [(&str, [u8; 3]); 16] = [
    ("red", [220, 30, 40]),
    ("green", [30, 150, 60]),
    ("blue", [30, 70, 210]),
    ("yellow", [245, 220, 40]),
    ("orange", [245, 130, 20]),
    ("purple", [130, 40, 160]),
    ("cyan", [50, 200, 220]),
    ("pink", [250, 150, 200]),
    ("white", [250, 250, 250]),
    ("black", [15, 15, 15]),
    ("brown", [120, 70, 30]),
    ("gray", [128, 128, 128]),
    ("magenta", [225, 30, 190]),
    ("teal", [10, 120, 125]),
    ("lime", [160, 240, 40]),
    ("navy", [15, 20, 90]),
];
/// The first colors of the palette, which nobody confuses: [`Chart::of`] and
/// [`Chart::independent`] use no others.
pub const PLAIN: usize = 10;
/// The border and the lines between cells: no color of the palette.
const LINE: [u8; 3] = [90, 90, 90];
/// How thick they are, in pixels.
const THICK: u32 = 4;
/// Fewest and most rows and columns.
const SIDES: std::ops::RangeInclusive<usize> = 2..=4;

/// A grid of colors, by rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Each cell as an index into [`PALETTE`]; all rows are of one length.
    rows: Vec<Vec<usize>>,
}

impl Chart {
    /// The chart of a seed: the same one for ever.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let (height, width) = (2 + dice.below(3), 2 + dice.below(3));
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for y in 0..height {
            let mut row: Vec<usize> = Vec::new();
            while row.len() < width {
                let above = y.checked_sub(1).map(|y| rows[y][row.len()]);
                let near = [row.last().copied(), above];
                let mut color = dice.below(PLAIN);
                while near.contains(&Some(color)) {
                    color = (color + 1) % PLAIN;
                }
                row.push(color);
            }
            rows.push(row);
        }
        Self { rows }
    }

    /// A chart of four by four cells, each drawn by itself: whoever cannot see it and guesses gets
    /// exactly one cell in ten right on average, and never two because of each other.
    pub fn independent(seed: u64) -> Self {
        let side = *SIDES.end();
        Self::drawn(seed, (side, side), PLAIN)
    }

    /// A chart of the whole palette, each cell drawn by itself; sides of two to four cells.
    pub fn grid(seed: u64, rows: usize, columns: usize) -> Self {
        let side = |cells: usize| cells.clamp(*SIDES.start(), *SIDES.end());
        Self::drawn(seed, (side(rows), side(columns)), PALETTE.len())
    }

    fn drawn(seed: u64, (rows, columns): (usize, usize), colors: usize) -> Self {
        let mut dice = Dice(seed);
        let mut row = || (0..columns).map(|_| dice.below(colors)).collect();
        Self { rows: (0..rows).map(|_| row()).collect() }
    }

    /// How likely one cell of a [`Chart::grid`] is guessed.
    pub fn chance() -> f64 {
        1.0 / PALETTE.len() as f64
    }

    /// Rows and columns.
    pub fn sides(&self) -> (usize, usize) {
        (self.rows.len(), self.rows[0].len())
    }

    /// Its cells row by row, each as an index into [`PALETTE`].
    pub fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().flatten().copied()
    }

    /// What a model that sees it says: `red, blue / green, yellow`.
    pub fn words(&self) -> String {
        let name = |color: &usize| PALETTE[*color].0;
        let row = |row: &Vec<usize>| row.iter().map(name).collect::<Vec<_>>().join(", ");
        self.rows.iter().map(row).collect::<Vec<_>>().join(" / ")
    }

    /// Its pixels at a size.
    pub fn draw(&self, width: u32, height: u32) -> Raster {
        let (columns, rows) = (self.rows[0].len() as u32, self.rows.len() as u32);
        let mut data = Vec::with_capacity(width as usize * height as usize * 3);
        for y in 0..height {
            let (row, near_y) = cell(y, height, rows);
            for x in 0..width {
                let (column, near_x) = cell(x, width, columns);
                let line = near_x || near_y;
                let color = PALETTE[self.rows[row][column]].1;
                data.extend_from_slice(if line { &LINE } else { &color });
            }
        }
        Raster { width, height, layout: Layout::Rgb, data }
    }

    /// It as a PNG of 384×288 pixels.
    pub fn png(&self) -> Result<Vec<u8>, Refusal> {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..Default::default()
        };
        Ok(encode(&self.draw(384, 288), &options)?.bytes)
    }
}

/// The cell in which a pixel lies, and whether it is part of a line.
fn cell(at: u32, length: u32, cells: u32) -> (usize, bool) {
    let index = at * cells / length;
    let start = (index * length).div_ceil(cells);
    let end = ((index + 1) * length).div_ceil(cells);
    let line =
        at < start + THICK / 2 || at + THICK / 2 >= end || at < THICK || at + THICK >= length;
    (index as usize, line)
}
