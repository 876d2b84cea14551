//! 28 px cells: the reference resize of the Claude vision documentation, and Mistral's plain grid.
//!
//! Owns the search for the size that the server itself will choose, so that a view can be made at a
//! fixed point of it and coordinates hold. Must round half away from zero: the published table
//! (2000 by 1500 gives 1269 by 952) rules out rounding half to even.

use super::{Seen, fit};

/// Side of a cell in pixels.
const CELL: u32 = 28;

/// Returns the largest size that fits both limits at the same aspect, and its cells.
pub fn cells28(width: u32, height: u32, max_edge: u32, max_tokens: u32) -> Seen {
    let (w, h) = (width.max(1), height.max(1));
    let fits = |w: u32, h: u32| {
        let (across, down) = (w.div_ceil(CELL), h.div_ceil(CELL));
        u64::from(across.max(down)) * u64::from(CELL) <= u64::from(max_edge)
            && u64::from(across) * u64::from(down) <= u64::from(max_tokens)
    };
    let (w, h) = if fits(w, h) { (w, h) } else { largest_fit(w, h, fits) };
    Seen { width: w, height: h, tokens: cells(w, h, CELL) }
}

/// Counts the cells of the image once its long side fits, plus separators at the end of each row.
pub fn cells28_grid(width: u32, height: u32, max_side: u32, cell: u32, row_tokens: u32) -> Seen {
    let cell = cell.max(1);
    let (w, h) = fit(width.max(1), height.max(1), max_side);
    let rows = u64::from(h.div_ceil(cell));
    Seen { width: w, height: h, tokens: cells(w, h, cell) + rows * u64::from(row_tokens) }
}

/// Searches for the longest side that fits, by bisection. Returns 1 by 1 if nothing fits.
fn largest_fit(width: u32, height: u32, fits: impl Fn(u32, u32) -> bool) -> (u32, u32) {
    let (long, short) = (width.max(height), width.min(height));
    let aspect = f64::from(long) / f64::from(short);
    let other = |long: u32| ((f64::from(long) / aspect).round() as u32).max(1);
    let (mut best, mut over) = (1, long);
    while over - best > 1 {
        let middle = best + (over - best) / 2;
        if fits(middle, other(middle)) {
            best = middle;
        } else {
            over = middle;
        }
    }
    if width >= height { (best, other(best)) } else { (other(best), best) }
}

fn cells(width: u32, height: u32, cell: u32) -> u64 {
    u64::from(width.div_ceil(cell)) * u64::from(height.div_ceil(cell))
}
