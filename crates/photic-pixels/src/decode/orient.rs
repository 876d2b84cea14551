//! The eight EXIF orientations, for rectangles and for pixels.

use crate::geometry::Rect;
use crate::header::Header;
use crate::raster::Raster;
use crate::resize::Window;

/// The position of an upright region in the stored picture.
pub(super) fn to_stored(region: Rect, header: &Header) -> Rect {
    let (wide, high) = (header.stored_width, header.stored_height);
    let Rect { x, y, width, height } = region;
    // Along an axis that runs backwards, the far end comes first.
    match header.orientation {
        2 => Rect { x: wide - x - width, ..region },
        3 => Rect { x: wide - x - width, y: high - y - height, ..region },
        4 => Rect { y: high - y - height, ..region },
        5 => Rect { x: y, y: x, width: height, height: width },
        6 => Rect { x: y, y: high - x - width, width: height, height: width },
        7 => Rect { x: wide - y - height, y: high - x - width, width: height, height: width },
        8 => Rect { x: wide - y - height, y: x, width: height, height: width },
        _ => region,
    }
}

/// Turns pixels upright, and the window with them.
pub(super) fn upright(raster: Raster, window: Window, orientation: u8) -> (Raster, Window) {
    let (wide, high) = (f64::from(raster.width), f64::from(raster.height));
    let Window { x, y, width, height } = window;
    let (right, below) = (wide - x - width, high - y - height);
    let turned = |x: f64, y: f64| Window { x, y, width: height, height: width };
    match orientation {
        2 => (mirrored(raster), Window { x: right, ..window }),
        3 => (mirrored(flipped(raster)), Window { x: right, y: below, ..window }),
        4 => (flipped(raster), Window { y: below, ..window }),
        5 => (transposed(&raster), turned(y, x)),
        6 => (mirrored(transposed(&raster)), turned(below, x)),
        7 => (mirrored(flipped(transposed(&raster))), turned(below, right)),
        8 => (flipped(transposed(&raster)), turned(y, right)),
        _ => (raster, window),
    }
}

/// Mirrors left and right.
fn mirrored(mut raster: Raster) -> Raster {
    let samples = raster.layout.samples();
    for row in raster.data.chunks_exact_mut((raster.width as usize * samples).max(1)) {
        let (mut low, mut high) = (0, row.len());
        while low + samples < high {
            high -= samples;
            for sample in 0..samples {
                row.swap(low + sample, high + sample);
            }
            low += samples;
        }
    }
    raster
}

/// Flips top and bottom.
fn flipped(mut raster: Raster) -> Raster {
    let stride = raster.width as usize * raster.layout.samples();
    let rows = raster.height as usize;
    let (top, bottom) = raster.data.split_at_mut(rows / 2 * stride);
    let odd = (rows % 2) * stride;
    for (above, below) in
        top.chunks_exact_mut(stride.max(1)).zip(bottom[odd..].chunks_exact_mut(stride.max(1)).rev())
    {
        above.swap_with_slice(below);
    }
    raster
}

/// Swaps rows and columns, in blocks so that both sides stay in cache.
fn transposed(raster: &Raster) -> Raster {
    const BLOCK: usize = 32;
    let samples = raster.layout.samples();
    let (width, height) = (raster.width as usize, raster.height as usize);
    let mut data = vec![0; raster.data.len()];
    for top in (0..height).step_by(BLOCK) {
        for left in (0..width).step_by(BLOCK) {
            for y in top..(top + BLOCK).min(height) {
                for x in left..(left + BLOCK).min(width) {
                    let from = (y * width + x) * samples;
                    let to = (x * height + y) * samples;
                    data[to..to + samples].copy_from_slice(&raster.data[from..from + samples]);
                }
            }
        }
    }
    Raster { width: raster.height, height: raster.width, layout: raster.layout, data }
}
