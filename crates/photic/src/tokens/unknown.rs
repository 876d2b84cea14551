//! Models without a known price: a middling estimate, and its upper bound.
//!
//! Owns the comparison with known rules. The bound must never be below any rule in its list, at any
//! size: a budget that holds by it holds whichever of them the model turns out to follow.

use super::{Rule, Seen, cells28};

/// The rules that an unknown model may follow: the most expensive published ones, one for each way
/// of counting. The multipliers of single small models are left out, because they make up for a low
/// price of the token.
const FAMILIES: [Rule; 5] = [
    Rule::Flat { tokens: 1120, low: None, medium: None, original: None },
    Rule::Tiles768 { tile: 258, single: 384, low: None, medium: None },
    Rule::Cells28Grid { max_side: 1024, cell: 16, row_tokens: 1 },
    Rule::Cells28Grid { max_side: u32::MAX, cell: 28, row_tokens: 1 },
    Rule::Canvas { tile: 336, tiles: 16, tile_tokens: 144 },
];

/// Estimates an image in 28 px cells, the most common way of counting, at a size that most models
/// leave alone. A picture made for an unknown model is then small enough for any of them.
pub fn unknown(width: u32, height: u32) -> Seen {
    cells28(width, height, 1568, 1568)
}

/// Returns the highest price of any family for the image as it is sent.
pub(super) fn most(width: u32, height: u32) -> u64 {
    FAMILIES.iter().map(|rule| rule.image_tokens(width, height, None)).max().unwrap_or(1)
}
