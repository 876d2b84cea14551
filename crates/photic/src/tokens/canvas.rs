//! Canvases of tiles: the rule of Llama 4, whose processor is published as code.
//!
//! Owns the choice of the canvas, in whole numbers: two canvases that scale an image alike must
//! compare as equal, because then the smaller one is taken.

use std::cmp::Ordering;

use super::Seen;

/// Tokens to open the image, before the tile that shows all of it, and to close it: one each.
const AROUND: u64 = 3;

/// A number of tiles across and down, and the scale at which they hold the image, as a fraction.
#[derive(Clone, Copy)]
struct Canvas {
    across: u64,
    down: u64,
    scale: (u64, u64),
}

/// Picks a canvas, counts its tiles with a separator each, and adds the image as one tile.
pub fn canvas(width: u32, height: u32, tile: u32, tiles: u32, tile_tokens: u32) -> Seen {
    let (w, h) = (u64::from(width.max(1)), u64::from(height.max(1)));
    let (edge, price) = (u64::from(tile.clamp(1, 65_535)), u64::from(tile_tokens.max(1)));
    let most = u64::from(tiles.clamp(1, 64));
    let mut best: Option<Canvas> = None;
    for across in 1..=most {
        for down in 1..=most / across {
            let (wide, high) = (across * edge, down * edge);
            let scale = if wide * h <= high * w { (wide, w) } else { (high, h) };
            let other = Canvas { across, down, scale };
            if best.is_none_or(|best| other.is_better_than(best)) {
                best = Some(other);
            }
        }
    }
    let Canvas { across, down, .. } = best.unwrap_or(Canvas { across: 1, down: 1, scale: (1, 1) });
    // The image is never enlarged beyond one tile, and the reported size is never enlarged at all.
    let (wide, high) = ((across * edge).min(w.max(edge)), (down * edge).min(h.max(edge)));
    let (wide, high) =
        if wide * h < high * w { (wide, h * wide / w) } else { (w * high / h, high) };
    let tiles = across * down;
    let apart = if tiles > 1 { tiles * (price + 1) } else { 0 };
    Seen {
        width: wide.clamp(1, w) as u32,
        height: high.clamp(1, h) as u32,
        tokens: apart + price + AROUND,
    }
}

impl Canvas {
    /// Returns `true` if this canvas is the better one: the least enlargement wins, else the least
    /// reduction, and of equals the smaller canvas.
    fn is_better_than(self, other: Self) -> bool {
        let by_scale = (self.scale.0 * other.scale.1).cmp(&(other.scale.0 * self.scale.1));
        let holds = |canvas: Self| canvas.scale.0 >= canvas.scale.1;
        match (holds(self), holds(other), by_scale) {
            (true, false, _) => true,
            (false, true, _) => false,
            (_, _, Ordering::Equal) => self.across * self.down < other.across * other.down,
            (true, true, by_scale) => by_scale == Ordering::Less,
            (false, false, by_scale) => by_scale == Ordering::Greater,
        }
    }
}
