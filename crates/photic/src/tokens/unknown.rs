//! Models whose price is not known: a middling estimate, and what it will not exceed.
//!
//! Owns the comparison with what is known. Must never put the most below any rule in its list, at
//! any size: a budget that holds by it holds whichever of them the model turns out to follow.

use super::{Rule, Seen, cells28};

/// What an unknown model may turn out to do: the dearest rules that are published, one for each way
/// of counting. Rates that single small models multiply their patches by are left out: they make
/// up for a low price of the token.
const FAMILIES: [Rule; 5] = [
    Rule::Flat { tokens: 1120, low: None, medium: None, original: None },
    Rule::Tiles768 { tile: 258, single: 384, low: None, medium: None },
    Rule::Cells28Grid { max_side: 1024, cell: 16, row_tokens: 1 },
    Rule::Cells28Grid { max_side: u32::MAX, cell: 28, row_tokens: 1 },
    Rule::Canvas { tile: 336, tiles: 16, tile_tokens: 144 },
];

/// 28 px cells, the commonest way of counting, at a size that most models leave alone: a picture
/// made for an unknown model is small enough for any of them.
pub fn unknown(width: u32, height: u32) -> Seen {
    cells28(width, height, 1568, 1568)
}

/// The dearest price of any family for the image as it is sent.
pub(super) fn most(width: u32, height: u32) -> u64 {
    FAMILIES.iter().map(|rule| rule.image_tokens(width, height, None)).max().unwrap_or(1)
}
