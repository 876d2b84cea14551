//! Pictures of at most 256 colors, in gray or with a palette, at the smallest depth.

use std::borrow::Cow;

use super::{ColorType, Samples};
use crate::{Layout, Raster};

/// Returns `true` if a picture with color has at most 256 of them.
pub(in crate::encode) fn has_few_colors(raster: &Raster) -> bool {
    let mut palette = Palette::new();
    match raster.layout {
        Layout::Gray => false,
        Layout::Rgb => {
            let (pixels, _) = raster.data.as_chunks::<3>();
            pixels.iter().all(|&[r, g, b]| palette.index([r, g, b, 255]).is_some())
        }
        Layout::Rgba => {
            let (pixels, _) = raster.data.as_chunks::<4>();
            pixels.iter().all(|&pixel| palette.index(pixel).is_some())
        }
    }
}

/// Returns the samples of a picture of at most 256 colors. Gives up at the 257th color, which a
/// photograph reaches in its first rows.
pub(super) fn reduced(raster: &Raster) -> Option<Samples<'_>> {
    let mut palette = Palette::new();
    let indices: Option<Vec<u8>> = match raster.layout {
        Layout::Gray => {
            raster.data.iter().map(|&gray| palette.index([gray, gray, gray, 255])).collect()
        }
        Layout::Rgb => {
            let (pixels, _) = raster.data.as_chunks::<3>();
            pixels.iter().map(|&[r, g, b]| palette.index([r, g, b, 255])).collect()
        }
        Layout::Rgba => {
            let (pixels, _) = raster.data.as_chunks::<4>();
            pixels.iter().map(|&pixel| palette.index(pixel)).collect()
        }
    };
    let (mut indices, colors) = (indices?, palette.colors);
    let bits = match colors.len() {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        _ => 8,
    };
    let gray = gray_levels(&colors, bits);
    if let Some(levels) = &gray {
        for index in &mut indices {
            *index = levels.get(usize::from(*index)).copied().unwrap_or_default();
        }
    }
    let width = raster.width as usize;
    let rows = if bits == 8 { indices } else { pack(&indices, width, usize::from(bits)) };
    let row_len = (width * usize::from(bits)).div_ceil(8);
    let rows = Cow::Owned(rows);
    if gray.is_some() {
        let (colors, alphas) = (Vec::new(), Vec::new());
        return Some(Samples {
            color_type: ColorType::Gray,
            depth: bits,
            row_len,
            colors,
            alphas,
            rows,
        });
    }
    let translucent = colors.iter().rposition(|color| color[3] != 255).map_or(0, |last| last + 1);
    Some(Samples {
        color_type: ColorType::Indexed,
        depth: bits,
        row_len,
        alphas: colors.iter().take(translucent).map(|color| color[3]).collect(),
        colors: colors.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect(),
        rows,
    })
}

/// The sample of each color, if all are opaque grays that samples of so many bits can express.
fn gray_levels(colors: &[[u8; 4]], bits: u8) -> Option<Vec<u8>> {
    // The distance between neighboring grays: 255, 85, 17 or 1.
    let step = (255 / ((1_u32 << bits) - 1)) as u8;
    let level = |&[r, g, b, alpha]: &[u8; 4]| {
        (r == g && g == b && alpha == 255 && r % step == 0).then_some(r / step)
    };
    colors.iter().map(level).collect()
}

/// Packs samples of fewer than eight bits, high bits first, rows on whole bytes.
fn pack(samples: &[u8], width: usize, bits: usize) -> Vec<u8> {
    let each = 8 / bits;
    let mut packed = Vec::with_capacity(samples.len().div_ceil(each) + samples.len() / width);
    for row in samples.chunks(width) {
        packed.extend(row.chunks(each).map(|group| {
            let shifts = (1..=each).map(|i| 8 - bits * i);
            group.iter().zip(shifts).fold(0, |byte, (sample, shift)| byte | sample << shift)
        }));
    }
    packed
}

/// Colors in order of appearance, found by an open-addressed table of four times their number.
struct Palette {
    colors: Vec<[u8; 4]>,
    slots: Vec<u16>,
    last: Option<([u8; 4], u8)>,
}

/// Number of slots of the table.
const SLOTS: usize = 1024;
/// Marks a free slot.
const FREE: u16 = u16::MAX;

impl Palette {
    fn new() -> Self {
        Self { colors: Vec::with_capacity(256), slots: vec![FREE; SLOTS], last: None }
    }

    /// The index of a color, which is added if it is new. Returns `None` for the 257th color.
    fn index(&mut self, color: [u8; 4]) -> Option<u8> {
        if let Some((last, index)) = self.last
            && last == color
        {
            return Some(index);
        }
        let mut at = (u32::from_le_bytes(color).wrapping_mul(0x9E37_79B1) >> 22) as usize;
        let index = loop {
            let slot = self.slots.get_mut(at % SLOTS)?;
            if *slot == FREE {
                let index = u8::try_from(self.colors.len()).ok()?;
                self.colors.push(color);
                *slot = u16::from(index);
                break index;
            }
            if self.colors.get(usize::from(*slot)) == Some(&color) {
                break *slot as u8;
            }
            at += 1;
        };
        self.last = Some((color, index));
        Some(index)
    }
}
