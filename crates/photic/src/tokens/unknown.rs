//! Models whose price is not known: an estimate that errs on the dear side.
//!
//! Owns the comparison with what is known. Must never be below any rule in its list, at any size: a
//! budget that is kept by this estimate is kept whichever of them the model turns out to follow.

use super::{Rule, Seen, cells28};

/// What an unknown model may turn out to do: the dearest rules that are published, one for each way
/// of counting. Rates that single small models multiply their patches by are left out: they make
/// up for a low price of the token.
const FAMILIES: [Rule; 5] = [
    Rule::Flat { tokens: 1120, low: None, original: None },
    Rule::Tiles768 { tile: 258, single: 384, low: None },
    Rule::Cells28Grid { max_side: 1024, cell: 16, row_tokens: 1 },
    Rule::Cells28Grid { max_side: u32::MAX, cell: 28, row_tokens: 1 },
    Rule::Canvas { tile: 336, tiles: 16, tile_tokens: 144 },
];

/// The dearest price of any family for the image as it is sent. The size is the one that most
/// models leave alone, so that a picture made for this model is small enough for any of them.
pub fn unknown(width: u32, height: u32) -> Seen {
    let prices = FAMILIES.iter().map(|rule| rule.image_tokens(width, height, None));
    Seen { tokens: prices.max().unwrap_or(1), ..cells28(width, height, 1568, 1568) }
}
