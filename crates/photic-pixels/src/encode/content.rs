//! Classifies a picture as screen content or photograph from a few rows.
//!
//! A drawn picture repeats pixels exactly and then jumps; a photograph rarely repeats and rarely
//! jumps. Scaling keeps both traits, so the pixels that will be sent are classified.

use super::png;
use crate::Raster;

/// The kind of a picture, for choosing an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Drawn pictures: interfaces, text, diagrams.
    Screen,
    /// Captured pictures: photographs, scans, paintings.
    Photo,
}

/// Number of rows that are examined.
const ROWS: u32 = 96;

/// Largest step that counts as shading or noise.
const SOFT: u8 = 16;

/// Classifies a picture.
pub fn classify(raster: &Raster) -> Content {
    // A photograph has its 257th color within a few rows, so this check is cheap.
    let drawn = Steps::of(raster).is_drawn() || png::has_few_colors(raster);
    if drawn { Content::Screen } else { Content::Photo }
}

/// Counts of the differences between pixels and their left neighbors.
#[derive(Debug, Default, PartialEq, Eq)]
struct Steps {
    none: u64,
    soft: u64,
    hard: u64,
}

impl Steps {
    fn of(raster: &Raster) -> Self {
        let samples = raster.layout.samples();
        let row_len = raster.width as usize * samples;
        let rows = u64::from(ROWS.min(raster.height));
        let mut steps = Self::default();
        for i in 0..rows {
            // The middle of each of `rows` equal slices.
            let y = (2 * i + 1) * u64::from(raster.height) / (2 * rows);
            let start = y as usize * row_len;
            let row = raster.data.get(start..start + row_len).unwrap_or_default();
            match samples {
                1 => steps.count::<1>(row),
                3 => steps.count::<3>(row),
                _ => steps.count::<4>(row),
            }
        }
        steps
    }

    fn count<const N: usize>(&mut self, row: &[u8]) {
        let (pixels, _) = row.as_chunks::<N>();
        for (left, right) in pixels.iter().zip(pixels.iter().skip(1)) {
            let step = left.iter().zip(right).map(|(a, b)| a.abs_diff(*b)).max();
            match step.unwrap_or(0) {
                0 => self.none += 1,
                1..=SOFT => self.soft += 1,
                _ => self.hard += 1,
            }
        }
    }

    fn is_drawn(&self) -> bool {
        let total = self.none + self.soft + self.hard;
        // Drawn: mostly exact repeats and little shading; or many repeats and more jumps than
        // shading, as in dense text. An overexposed sky repeats as well, but the rest of its
        // photograph shades.
        (self.none * 2 > total && self.soft * 3 < total)
            || (self.none * 10 > total * 3 && self.hard * 2 > self.soft)
    }
}
