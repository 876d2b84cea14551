//! Tile rules: 512 px tiles of the older OpenAI models and the crops of Gemini 2.x.
//!
//! Owns integer arithmetic only: a side that is exactly two tiles wide must never become three
//! through a rounding error.

use super::{Detail, Seen, scaled};

/// Fits the image in 2048 by 2048, reduces the short side to 768, and counts 512 px tiles.
///
/// Small images are not enlarged: the guide does not say, and implementations assume so.
pub fn tiles512(width: u32, height: u32, base: u32, tile: u32, detail: Option<Detail>) -> Seen {
    let (w, h) = (width.max(1), height.max(1));
    let (long, short) = (u64::from(w.max(h)), u64::from(w.min(h)));
    if detail == Some(Detail::Low) {
        let (width, height) = super::fit(w, h, 512);
        return Seen { width, height, tokens: u64::from(base.max(1)) };
    }
    // Both steps only shrink, so the stronger of the two decides: 2048/long or 768/short.
    let (num, den) = if long > 2048 && short * 2048 <= 768 * long {
        (2048, w.max(h))
    } else if short > 768 {
        (768, w.min(h))
    } else {
        (1, 1)
    };
    let across = |side: u32| (u64::from(side) * u64::from(num)).div_ceil(u64::from(den) * 512);
    let tiles = across(w) * across(h);
    Seen {
        width: scaled(w, num, den),
        height: scaled(h, num, den),
        tokens: u64::from(base) + tiles * u64::from(tile),
    }
}

/// Counts one crop if both sides are small, else square crops of two thirds of the short side.
pub fn tiles768(width: u32, height: u32, tile: u32, single: u32) -> Seen {
    let (w, h) = (width.max(1), height.max(1));
    let crops = if w <= single && h <= single {
        1
    } else {
        // floor(min / 1.5); a strip would otherwise be cut into thousands of slivers, so a crop is
        // never smaller than 256 px, a bound no published vector reaches.
        let crop = (u64::from(w.min(h)) * 2 / 3).max(256);
        u64::from(w).div_ceil(crop) * u64::from(h).div_ceil(crop)
    };
    Seen { width: w, height: h, tokens: crops * u64::from(tile.max(1)) }
}
