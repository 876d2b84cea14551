//! Chooses between no filters and a filter for each row, by compressing a sample of the rows both
//! ways.
//!
//! Filters turn shading into small differences, which a photograph needs. They hide the repeated
//! strokes of text, which a search for matches finds when rows are left alone.

use libdeflater::{CompressionLvl, Compressor};

use super::{ColorType, Samples, deflated};
use crate::encode::formats::EncoderFailed;

/// Rows of one band of the sample.
const BAND: usize = 16;

/// One row of this many is in the sample.
const SHARE: usize = 8;

/// Number of bytes below which the sample is the whole picture.
const SMALL: usize = 64 << 10;

/// Returns the rows, each after the number of its filter.
pub(super) fn filtered(samples: &Samples<'_>) -> Result<Vec<u8>, EncoderFailed> {
    let (rows, row_len, pixel_len) = (&*samples.rows, samples.row_len, samples.pixel_len());
    // Neighboring indices of a palette mean nothing to each other, nor do packed samples.
    if samples.color_type == ColorType::Indexed || samples.depth < 8 {
        return Ok(unfiltered(rows, row_len));
    }
    let sample = sample(rows, row_len);
    let sample = sample.as_deref().unwrap_or(rows);
    let level = CompressionLvl::new(1).map_err(|_| EncoderFailed)?;
    let mut compressor = Compressor::new(level);
    let plain = deflated(&mut compressor, &unfiltered(sample, row_len))?.len();
    let chosen = deflated(&mut compressor, &adaptive(sample, row_len, pixel_len))?.len();
    Ok(if plain <= chosen { unfiltered(rows, row_len) } else { adaptive(rows, row_len, pixel_len) })
}

/// Copies bands of a picture, one above the other; `None` for a picture that is compressed fast.
fn sample(rows: &[u8], row_len: usize) -> Option<Vec<u8>> {
    let slices = rows.len() / row_len / (BAND * SHARE);
    if rows.len() <= SMALL || slices == 0 {
        return None;
    }
    let slice_len = rows.len() / row_len / slices * row_len;
    let middle = (slice_len / row_len - BAND) / 2 * row_len;
    let mut sample = Vec::with_capacity(slices * BAND * row_len);
    for slice in rows.chunks_exact(slice_len).take(slices) {
        sample.extend_from_slice(slice.get(middle..middle + BAND * row_len).unwrap_or_default());
    }
    Some(sample)
}

/// Puts the number of no filter before each row.
fn unfiltered(rows: &[u8], row_len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() + rows.len() / row_len);
    for row in rows.chunks_exact(row_len) {
        out.push(0);
        out.extend_from_slice(row);
    }
    out
}

/// Filters each row by the filter with the least sum of absolute differences.
fn adaptive(rows: &[u8], row_len: usize, pixel_len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() + rows.len() / row_len);
    // Both with an empty pixel at the left.
    let mut row = vec![0; pixel_len + row_len];
    let mut above = row.clone();
    let mut tries = [const { Vec::new() }; 5];
    for filtered in &mut tries {
        filtered.resize(row_len, 0);
    }
    for bytes in rows.chunks_exact(row_len) {
        row.truncate(pixel_len);
        row.extend_from_slice(bytes);
        let area = Area { row: &row, above: &above, pixel_len };
        area.fill(&mut tries[0], |x, _, _, _| x);
        area.fill(&mut tries[1], |x, left, _, _| x.wrapping_sub(left));
        area.fill(&mut tries[2], |x, _, up, _| x.wrapping_sub(up));
        area.fill(&mut tries[3], |x, left, up, _| x.wrapping_sub(left.midpoint(up)));
        area.fill(&mut tries[4], |x, left, up, corner| x.wrapping_sub(paeth(left, up, corner)));
        let best = (0_u8..).zip(&tries).min_by_key(|(_, filtered)| size(filtered));
        if let Some((number, filtered)) = best {
            out.push(number);
            out.extend_from_slice(filtered);
        }
        std::mem::swap(&mut row, &mut above);
    }
    out
}

/// A row and the one above it, both with an empty pixel at the left.
struct Area<'a> {
    row: &'a [u8],
    above: &'a [u8],
    pixel_len: usize,
}

impl Area<'_> {
    /// Calls a filter with each sample and those at its left, above it, and above its left.
    fn fill(&self, out: &mut [u8], filter: impl Fn(u8, u8, u8, u8) -> u8) {
        // Slices in one zip, so that the loop is vectorized.
        let here = self.row[self.pixel_len..].iter().zip(self.row);
        let above = self.above[self.pixel_len..].iter().zip(self.above);
        let neighbors = here.zip(above);
        for (out, ((&x, &left), (&up, &corner))) in out.iter_mut().zip(neighbors) {
            *out = filter(x, left, up, corner);
        }
    }
}

/// The sum of the absolute differences of a filtered row.
fn size(filtered: &[u8]) -> u64 {
    // Parts whose sum fits 32 bits, which is added faster.
    let part_size = |part: &[u8]| {
        part.iter().map(|byte| u32::from(byte.cast_signed().unsigned_abs())).sum::<u32>()
    };
    filtered.chunks(1 << 16).map(|part| u64::from(part_size(part))).sum()
}

/// The neighbor that is nearest to a linear continuation of all three.
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i16::from);
    let (by_left, by_up, by_corner) = ((b - c).abs(), (a - c).abs(), (a + b - c - c).abs());
    if by_left <= by_up && by_left <= by_corner {
        left
    } else if by_up <= by_corner {
        up
    } else {
        corner
    }
}
