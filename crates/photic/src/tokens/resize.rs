//! Resizes that open models publish as code: Qwen's to whole cells, Kimi's to a budget of patches.
//!
//! Owns their floating point in the order their own code has it. Must round halves to even, as the
//! language that code is written in does.

use super::Seen;

/// Rounds both sides to whole cells, and scales both if the product leaves its bounds.
///
/// The size reported is never larger than the image. Within the bounds it is the image's own: the
/// stretch to whole cells is less than half a cell a side.
pub fn smart_resize(width: u32, height: u32, factor: u32, least: u32, most: u32) -> Seen {
    let (width, height, factor) = (width.max(1), height.max(1), factor.max(1));
    let (w, h, cell) = (f64::from(width), f64::from(height), f64::from(factor));
    let (across, down) = ((w / cell).round_ties_even(), (h / cell).round_ties_even());
    let pixels = across * down * cell * cell;
    if pixels > f64::from(most) {
        let by = (w * h / f64::from(most.max(1))).sqrt();
        let across = (w / by / cell).floor().max(1.0);
        let down = (h / by / cell).floor().max(1.0);
        return Seen {
            width: ((across * cell) as u32).min(width),
            height: ((down * cell) as u32).min(height),
            tokens: (across * down) as u64,
        };
    }
    let (across, down) = if pixels < f64::from(least) {
        let by = (f64::from(least) / (w * h)).sqrt();
        ((w * by / cell).ceil(), (h * by / cell).ceil())
    } else {
        (across, down)
    };
    Seen { width, height, tokens: (across.max(1.0) * down.max(1.0)) as u64 }
}

/// Shrinks to a budget of 14 px patches and a longest side, then pads to cells of two by two.
///
/// The budget counts whole patches before the padding, so the tokens can exceed a quarter of it.
pub fn patches14(width: u32, height: u32, budget: u32, max_side: u32) -> Seen {
    const PATCH: u32 = 14;
    const CELL: u32 = 28;
    let (w, h) = (width.max(1), height.max(1));
    let patches = f64::from((w / PATCH).max(1)) * f64::from((h / PATCH).max(1));
    let side = max_side.max(1).saturating_mul(PATCH);
    let scale = (f64::from(budget.max(1)) / patches)
        .sqrt()
        .min(f64::from(side) / f64::from(h))
        .min(f64::from(side) / f64::from(w))
        .min(1.0);
    let scaled = |length: u32| ((f64::from(length) * scale) as u32).clamp(1, side);
    let (w, h) = (scaled(w), scaled(h));
    let tokens = u64::from(w.div_ceil(CELL)) * u64::from(h.div_ceil(CELL));
    Seen { width: w, height: h, tokens }
}
