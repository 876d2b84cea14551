//! Charts: pictures whose correct description cannot be guessed.
//!
//! A chart is a grid of two to four rows and columns of named colors, or a code of letters and
//! digits. Each is made from a seed, described in words, and read back from pixels ([`read_chart`])
//! even after scaling and compression. Charts of a seed have no equal neighbors, so their grid can
//! be found without lines; charts with independent cells are told apart by the lines between cells.
//! [`chance_of_at_least`] gives the probability that an answer is right by chance. This module draws no
//! random numbers: a caller that needs an unpredictable chart provides the seed.

mod code;
mod glyphs;
mod probability;
mod recognize;
mod score;
mod splitmix;

use crate::encode::{EncodeOptions, Prefer, encode};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

pub use code::Code;
pub use glyphs::ALPHABET;
pub use probability::chance_of_at_least;
pub use recognize::{ChartReading, read_chart};
pub use score::{code, colors};
use splitmix::SplitMix64;

/// Names and values of the colors of cells, far enough apart to survive JPEG.
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
/// Number of leading colors of the palette that are never confused. [`Chart::of`] and
/// [`Chart::independent`] use no others.
pub const PLAIN_COLORS: usize = 10;
/// Color of the border and of the lines between cells; not in the palette.
const LINE: [u8; 3] = [90, 90, 90];
/// Width of the lines in pixels.
const THICK: u32 = 4;
/// Possible numbers of rows and columns.
const SIDES: std::ops::RangeInclusive<usize> = 2..=4;

/// A grid of colors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Each cell as an index into [`PALETTE`]; all rows are of one length.
    rows: Vec<Vec<usize>>,
}

impl Chart {
    /// Makes the chart of a seed. The same seed always gives the same chart.
    pub fn of(seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        let (height, width) = (2 + random.below(3), 2 + random.below(3));
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for y in 0..height {
            let mut row: Vec<usize> = Vec::new();
            while row.len() < width {
                let above = y.checked_sub(1).map(|y| rows[y][row.len()]);
                let near = [row.last().copied(), above];
                let mut color = random.below(PLAIN_COLORS);
                while near.contains(&Some(color)) {
                    color = (color + 1) % PLAIN_COLORS;
                }
                row.push(color);
            }
            rows.push(row);
        }
        Self { rows }
    }

    /// Makes a chart of four by four cells that are drawn independently. A model that cannot see it
    /// and guesses gets one cell in ten right on average.
    pub fn independent(seed: u64) -> Self {
        let side = *SIDES.end();
        Self::drawn(seed, (side, side), PLAIN_COLORS)
    }

    /// Makes a chart from the whole palette with independent cells and two to four cells a side.
    pub fn grid(seed: u64, rows: usize, columns: usize) -> Self {
        let side = |cells: usize| cells.clamp(*SIDES.start(), *SIDES.end());
        Self::drawn(seed, (side(rows), side(columns)), PALETTE.len())
    }

    /// Draws each cell independently from the first `colors` colors.
    fn drawn(seed: u64, (rows, columns): (usize, usize), colors: usize) -> Self {
        let mut random = SplitMix64(seed);
        let mut row = || (0..columns).map(|_| random.below(colors)).collect();
        Self { rows: (0..rows).map(|_| row()).collect() }
    }

    /// The probability of guessing one cell of a [`Chart::grid`].
    pub fn chance() -> f64 {
        1.0 / PALETTE.len() as f64
    }

    /// Number of rows and columns.
    pub fn sides(&self) -> (usize, usize) {
        (self.rows.len(), self.rows[0].len())
    }

    /// The cells row by row, as indices into [`PALETTE`].
    pub fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().flatten().copied()
    }

    /// The description that a model which sees the chart gives: `red, blue / green, yellow`.
    pub fn words(&self) -> String {
        let name = |color: &usize| PALETTE[*color].0;
        let row = |row: &Vec<usize>| row.iter().map(name).collect::<Vec<_>>().join(", ");
        self.rows.iter().map(row).collect::<Vec<_>>().join(" / ")
    }

    /// Draws the chart at a size.
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

    /// Encodes the chart as a PNG of 384×288 pixels.
    pub fn png(&self) -> Result<Vec<u8>, Refusal> {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..Default::default()
        };
        Ok(encode(&self.draw(384, 288), &options)?.bytes)
    }
}

/// The cell that a pixel belongs to, and whether the pixel is part of a line.
fn cell(at: u32, length: u32, cells: u32) -> (usize, bool) {
    let index = at * cells / length;
    let start = (index * length).div_ceil(cells);
    let end = ((index + 1) * length).div_ceil(cells);
    let line =
        at < start + THICK / 2 || at + THICK / 2 >= end || at < THICK || at + THICK >= length;
    (index as usize, line)
}
