//! Cuts a large source into tiles that each reach the model at native resolution.
//!
//! Chooses the grid with the fewest tiles. Regions that no tile covers are listed.

use photic::Profile;
use serde::Serialize;

use super::{Caps, Fidelity, FittedSize, SizeLimits, fit_within};
use crate::geometry::Rect;

/// Pixels that neighboring tiles share, so that a line of text cut by one tile is whole in the
/// next.
pub const OVERLAP: u32 = 64;

/// Largest number of tiles of one source; the largest source that is decoded by default needs about
/// as many.
pub const MAX_TILES: usize = 64;

/// A source cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tiling {
    /// Size of the whole source, scaled.
    pub overview: FittedSize,
    /// Equal rectangles of the source, row by row, each at native resolution.
    pub tiles: Vec<Rect>,
    /// Regions that no tile covers; empty unless there would be more than [`MAX_TILES`].
    pub not_covered: Vec<Rect>,
}

impl Tiling {
    /// A sentence about regions that no tile covers; `None` if the tiles cover everything.
    pub fn note(&self) -> Option<String> {
        let rects: Vec<String> = self
            .not_covered
            .iter()
            .map(|rect| format!("{},{},{},{}", rect.x, rect.y, rect.width, rect.height))
            .collect();
        let shown = self.tiles.len();
        (!rects.is_empty()).then(|| {
            format!("the {shown} tiles do not show {}; ask for regions", rects.join(" and "))
        })
    }
}

/// An overview and the fewest overlapping tiles that show every pixel unscaled.
pub fn tiles(source: (u32, u32), profile: &Profile) -> Tiling {
    tiles_within(source, profile, &Caps::default())
}

/// [`tiles`] with additional caps.
pub fn tiles_within(source: (u32, u32), profile: &Profile, caps: &Caps) -> Tiling {
    let source = (source.0.max(1), source.1.max(1));
    let bounds = SizeLimits::new(profile, Fidelity::Read, caps);
    let overview = fit_within(source, profile, Fidelity::Read, caps);
    let overlap = OVERLAP.min(bounds.edge / 4);
    let grid = TileGrid::fewest(source, overlap, &bounds);
    let rows = if grid.rows as usize * grid.columns as usize <= MAX_TILES {
        grid.rows
    } else {
        (MAX_TILES as u32 / grid.columns).max(1)
    };
    let columns = if rows == 1 { grid.columns.min(MAX_TILES as u32) } else { grid.columns };
    let mut tiles = Vec::new();
    for row in 0..rows {
        let y = position(row, grid.rows, source.1, grid.height);
        for column in 0..columns {
            let x = position(column, grid.columns, source.0, grid.width);
            tiles.push(Rect::new(x, y, grid.width, grid.height));
        }
    }
    let (right, bottom) = tiles.last().map_or((0, 0), |last: &Rect| (last.right(), last.bottom()));
    let beside = Rect::new(right, 0, source.0 - right, bottom);
    let below = Rect::new(0, bottom, source.0, source.1 - bottom);
    let not_covered =
        [beside, below].into_iter().filter(|rect| rect.width > 0 && rect.height > 0).collect();
    Tiling { overview, tiles, not_covered }
}

/// A grid of equal tiles.
struct TileGrid {
    columns: u32,
    rows: u32,
    width: u32,
    height: u32,
}

impl TileGrid {
    /// The grid with the fewest tiles; of several, the one whose tiles are closest to squares.
    fn fewest((w, h): (u32, u32), overlap: u32, bounds: &SizeLimits<'_>) -> Self {
        let mut best: Option<(u64, u32, Self)> = None;
        let mut columns = count(w, bounds.edge.min(w), overlap);
        let fewest_rows = u64::from(count(h, bounds.edge.min(h), overlap));
        loop {
            let width = share(w, columns, overlap);
            let tallest = tallest(width, h, bounds);
            if tallest == h || tallest > overlap {
                let rows = count(h, tallest, overlap);
                let height = share(h, rows, overlap);
                let total = u64::from(columns) * u64::from(rows);
                let rank = (total, width.max(height));
                if best.as_ref().is_none_or(|&(total, long, _)| rank < (total, long)) {
                    best = Some((rank.0, rank.1, Self { columns, rows, width, height }));
                }
            }
            columns += 1;
            let least = u64::from(columns) * fewest_rows;
            if best.as_ref().is_some_and(|&(total, ..)| least > total) || width <= overlap + 1 {
                break;
            }
        }
        best.map_or(Self { columns: 1, rows: 1, width: w, height: h }, |(_, _, grid)| grid)
    }
}

/// Number of tiles of a length that cover a side.
fn count(side: u32, tile: u32, overlap: u32) -> u32 {
    if tile >= side { 1 } else { (side - overlap).div_ceil((tile - overlap).max(1)) }
}

/// The length at which `tiles` tiles cover a side evenly.
fn share(side: u32, tiles: u32, overlap: u32) -> u32 {
    let all = u64::from(side) + u64::from(tiles - 1) * u64::from(overlap);
    (all.div_ceil(u64::from(tiles)) as u32).min(side)
}

/// The start of a tile. The last tile ends at the edge of the source.
fn position(index: u32, tiles: u32, side: u32, tile: u32) -> u32 {
    let steps = u64::from(tiles.max(2) - 1);
    (u64::from(index) * u64::from(side - tile) / steps) as u32
}

/// Height of the tallest tile of this width that reaches the model unscaled; zero if there is none.
fn tallest(width: u32, most: u32, bounds: &SizeLimits<'_>) -> u32 {
    if bounds.admits((width, most)) {
        return most;
    }
    let (mut best, mut over) = (0, most);
    while over - best > 1 {
        let middle = best + (over - best) / 2;
        if bounds.admits((width, middle)) {
            best = middle;
        } else {
            over = middle;
        }
    }
    best
}
