//! Clear pixels onto a background against which what is visible can be read.

use crate::raster::{Layout, Raster};

/// The backgrounds, in order of liking, and the gray levels that are lost on each: where WCAG's
/// contrast ratio against it stays under 3.
const WHITE: Ground = Ground { level: 255, lost: (150, 255) };
const DARK: Ground = Ground { level: 30, lost: (0, 104) };
const MIDDLE: Ground = Ground { level: 118, lost: (46, 209) };

#[derive(Clone, Copy)]
struct Ground {
    level: u8,
    lost: (usize, usize),
}

impl Ground {
    fn loses(self, levels: &[u64; 256]) -> u64 {
        levels[self.lost.0..=self.lost.1].iter().sum()
    }
}

/// The raster without alpha: dark-on-clear, light-on-clear and both at once stay readable.
///
/// The background is white unless a good part of what borders on clear pixels would vanish on it;
/// then it is dark or middle gray, whichever loses least. Colours under fully clear pixels count
/// for nothing.
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

fn ground(raster: &Raster) -> Ground {
    let mut clear = 0_u64;
    for pixel in raster.data.chunks_exact(4) {
        clear += u64::from(pixel[3] < 128);
    }
    // Rounded corners and the like: any background will do.
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

fn level(pixel: &[u8]) -> usize {
    (54 * usize::from(pixel[0]) + 183 * usize::from(pixel[1]) + 19 * usize::from(pixel[2])) >> 8
}

/// Gray levels of visible pixels next to a clear one: only they meet the background.
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

/// Gray levels of all that can be seen, by how much.
fn visible(raster: &Raster) -> [u64; 256] {
    let mut levels = [0; 256];
    for pixel in raster.data.chunks_exact(4) {
        levels[level(pixel)] += u64::from(pixel[3]);
    }
    levels
}
