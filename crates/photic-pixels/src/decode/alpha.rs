//! Removes transparency by putting a picture on a background that keeps it readable.

use crate::raster::{Layout, Raster};

/// Backgrounds in order of preference. `lost` holds the gray levels whose WCAG contrast ratio
/// against the background is below 3.
const WHITE: Background = Background { level: 255, lost: (150, 255) };
const DARK: Background = Background { level: 30, lost: (0, 104) };
const MIDDLE: Background = Background { level: 118, lost: (46, 209) };

/// A gray background and the gray levels that cannot be read on it.
#[derive(Clone, Copy)]
struct Background {
    level: u8,
    lost: (usize, usize),
}

impl Background {
    /// Number of pixels that would be lost on it.
    fn loses(self, levels: &[u64; 256]) -> u64 {
        levels[self.lost.0..=self.lost.1].iter().sum()
    }
}

/// Returns the raster without alpha, on a background that keeps it readable.
///
/// The background is white unless many pixels next to transparent ones would vanish on it; then it
/// is the dark or middle gray that loses fewest. Colors of fully transparent pixels do not count.
pub fn composite(raster: &Raster) -> Raster {
    into_opaque(raster.clone())
}

/// [`composite`] in the raster's own memory.
pub fn into_opaque(mut raster: Raster) -> Raster {
    if raster.layout != Layout::Rgba {
        return raster;
    }
    let level = u32::from(ground(&raster).level);
    let pixels = raster.width as usize * raster.height as usize;
    for pixel in 0..pixels {
        let (from, to) = (pixel * 4, pixel * 3);
        let alpha = u32::from(raster.data[from + 3]);
        for sample in 0..3 {
            let color = u32::from(raster.data[from + sample]);
            let mixed = (color * alpha + level * (255 - alpha) + 127) / 255;
            raster.data[to + sample] = mixed as u8;
        }
    }
    raster.data.truncate(pixels * 3);
    raster.data.shrink_to_fit();
    Raster { layout: Layout::Rgb, ..raster }
}

/// Chooses the background.
fn ground(raster: &Raster) -> Background {
    let mut clear = 0_u64;
    for pixel in raster.data.chunks_exact(4) {
        clear += u64::from(pixel[3] < 128);
    }
    // Only rounded corners and the like are transparent: any background will do.
    let pixels = u64::from(raster.width) * u64::from(raster.height);
    if clear * 200 < pixels {
        return WHITE;
    }
    let mut levels = borders(raster);
    if levels.iter().all(|&count| count == 0) {
        levels = visible(raster);
    }
    let total: u64 = levels.iter().sum();
    let white = WHITE.loses(&levels);
    if white * 20 <= total * 3 {
        return WHITE;
    }
    [WHITE, DARK, MIDDLE].into_iter().min_by_key(|ground| ground.loses(&levels)).unwrap_or(WHITE)
}

/// The gray level of a pixel.
fn level(pixel: &[u8]) -> usize {
    (54 * usize::from(pixel[0]) + 183 * usize::from(pixel[1]) + 19 * usize::from(pixel[2])) >> 8
}

/// Histogram of gray levels of visible pixels next to a transparent one: only they meet the
/// background.
fn borders(raster: &Raster) -> [u64; 256] {
    let mut levels = [0; 256];
    let stride = raster.width as usize * 4;
    let shows = |at: usize| raster.data[at + 3] >= 128;
    for (y, row) in raster.data.chunks_exact(stride.max(1)).enumerate() {
        for (x, pixel) in row.chunks_exact(4).enumerate() {
            if pixel[3] < 128 {
                continue;
            }
            let at = y * stride + x * 4;
            let meets = (x > 0 && !shows(at - 4))
                || (x + 1 < raster.width as usize && !shows(at + 4))
                || (y > 0 && !shows(at - stride))
                || (y + 1 < raster.height as usize && !shows(at + stride));
            levels[level(pixel)] += u64::from(meets);
        }
    }
    levels
}

/// Histogram of gray levels of all visible pixels, weighted by alpha.
fn visible(raster: &Raster) -> [u64; 256] {
    let mut levels = [0; 256];
    for pixel in raster.data.chunks_exact(4) {
        levels[level(pixel)] += u64::from(pixel[3]);
    }
    levels
}
