//! The encoders, with settings chosen by measurement.
//!
//! A PNG of at most 256 colors is written with a palette at the smallest depth and a thorough
//! deflate, since there is little to compress. Other PNGs are filtered adaptively for the fast
//! deflate.

use std::borrow::Cow;

use libjpeg_turbo_rs::{PixelFormat, Subsampling};
use photic_webp::{Channels, Mode};
use png::{BitDepth, ColorType, DeflateCompression, Filter};

use super::Chroma;
use crate::{Layout, Raster};

/// An encoder failed. There are no details.
#[derive(Debug)]
pub(super) struct EncoderFailed;

/// libwebp's fastest method: the time it saves buys more quality at the same size elsewhere.
const WEBP_METHOD: u8 = 0;

/// Removes the alpha channel if every pixel is opaque.
pub(super) fn opaque(raster: &Raster) -> Cow<'_, Raster> {
    let (pixels, _) = raster.data.as_chunks::<4>();
    if raster.layout != Layout::Rgba || pixels.iter().any(|pixel| pixel[3] != 255) {
        return Cow::Borrowed(raster);
    }
    Cow::Owned(drop_alpha(raster, |[r, g, b, _]| [r, g, b]))
}

/// Removes the alpha channel: over white, or over black if the visible pixels are light.
pub(super) fn flat(raster: &Raster) -> Raster {
    let (mut light, mut weight) = (0_u64, 0_u64);
    let (pixels, _) = raster.data.as_chunks::<4>();
    for pixel in pixels {
        let [r, g, b, a] = pixel.map(u64::from);
        light += (r * 3 + g * 6 + b) * a / 10;
        weight += a;
    }
    let ground = if light > weight * 170 { 0_u32 } else { 255 };
    drop_alpha(raster, |[r, g, b, alpha]| {
        let alpha = u32::from(alpha);
        let blend = |sample: u8| (u32::from(sample) * alpha + ground * (255 - alpha) + 127) / 255;
        [r, g, b].map(|sample| blend(sample) as u8)
    })
}

/// Maps each pixel to one without alpha.
fn drop_alpha(raster: &Raster, pixel: impl Fn([u8; 4]) -> [u8; 3]) -> Raster {
    let (pixels, _) = raster.data.as_chunks::<4>();
    let data = pixels.iter().flat_map(|&rgba| pixel(rgba)).collect();
    Raster { width: raster.width, height: raster.height, layout: Layout::Rgb, data }
}

/// Encodes a JPEG. The raster must not have alpha: see [`flat`].
pub(super) fn jpeg(raster: &Raster, quality: u8, chroma: Chroma) -> Result<Vec<u8>, EncoderFailed> {
    let (format, subsampling) = match (raster.layout, chroma) {
        (Layout::Gray, _) => (PixelFormat::Grayscale, Subsampling::S444),
        (Layout::Rgb, Chroma::Full) => (PixelFormat::Rgb, Subsampling::S444),
        (Layout::Rgb, Chroma::Quarter) => (PixelFormat::Rgb, Subsampling::S420),
        (Layout::Rgba, _) => return Err(EncoderFailed),
    };
    let (width, height) = (raster.width as usize, raster.height as usize);
    libjpeg_turbo_rs::compress(&raster.data, width, height, format, quality, subsampling)
        .map_err(|_| EncoderFailed)
}

/// Encodes a lossy WebP.
pub(super) fn webp(raster: &Raster, quality: u8) -> Result<Vec<u8>, EncoderFailed> {
    webp_as(raster, Mode::Lossy { quality, method: WEBP_METHOD })
}

/// Encodes a lossless WebP.
pub(super) fn webp_lossless(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    webp_as(raster, Mode::Lossless { effort: 0 })
}

/// Encodes a WebP; gray is widened, since libwebp takes only color.
fn webp_as(raster: &Raster, mode: Mode) -> Result<Vec<u8>, EncoderFailed> {
    let Raster { width, height, layout, ref data } = *raster;
    let done = match layout {
        Layout::Gray => {
            let rgb: Vec<u8> = data.iter().flat_map(|&gray| [gray; 3]).collect();
            photic_webp::encode(&rgb, width, height, Channels::Rgb, mode)
        }
        Layout::Rgb => photic_webp::encode(data, width, height, Channels::Rgb, mode),
        Layout::Rgba => photic_webp::encode(data, width, height, Channels::Rgba, mode),
    };
    done.map_err(|_| EncoderFailed)
}

/// Encodes a PNG quickly.
pub(super) fn png(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    png_as(raster, PngEffort::Fast)
}

/// Encodes a small PNG, which takes longer.
pub(super) fn png_small(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    png_as(raster, PngEffort::Small)
}

/// The effort of PNG compression.
#[derive(Clone, Copy)]
enum PngEffort {
    Fast,
    Small,
}

/// Encodes a PNG, with a palette if it has few colors.
fn png_as(raster: &Raster, squeeze: PngEffort) -> Result<Vec<u8>, EncoderFailed> {
    let Raster { width, height, layout, ref data } = *raster;
    let indexed = Indexed::of(raster);
    let mut out = Vec::with_capacity(data.len() / 4);
    let mut encoder = png::Encoder::new(&mut out, width, height);
    let pixels = if let Some(indexed) = &indexed {
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(indexed.depth);
        encoder.set_palette(indexed.colors.as_slice());
        if !indexed.alphas.is_empty() {
            encoder.set_trns(indexed.alphas.as_slice());
        }
        let level = match squeeze {
            PngEffort::Fast => 4,
            PngEffort::Small => 9,
        };
        encoder.set_filter(Filter::NoFilter);
        encoder.set_deflate_compression(DeflateCompression::Level(level));
        &indexed.rows
    } else {
        encoder.set_color(match layout {
            Layout::Gray => ColorType::Grayscale,
            Layout::Rgb => ColorType::Rgb,
            Layout::Rgba => ColorType::Rgba,
        });
        encoder.set_depth(BitDepth::Eight);
        // The fast deflate codes the zeros that filters leave. A searching deflate finds repeated
        // strokes of text, which filters hide: measured, a third smaller at five times the time.
        let (filter, deflate) = match squeeze {
            PngEffort::Fast => (Filter::Adaptive, DeflateCompression::FdeflateUltraFast),
            PngEffort::Small => (Filter::NoFilter, DeflateCompression::Level(4)),
        };
        encoder.set_filter(filter);
        encoder.set_deflate_compression(deflate);
        data
    };
    let mut writer = encoder.write_header().map_err(|_| EncoderFailed)?;
    writer.write_image_data(pixels).map_err(|_| EncoderFailed)?;
    writer.finish().map_err(|_| EncoderFailed)?;
    Ok(out)
}

/// Returns `true` if a PNG would be written with a palette.
pub(super) fn has_few_colors(raster: &Raster) -> bool {
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

/// A picture of at most 256 colors, packed.
struct Indexed {
    colors: Vec<u8>,
    /// Alpha of each color; empty if all are opaque.
    alphas: Vec<u8>,
    depth: BitDepth,
    rows: Vec<u8>,
}

impl Indexed {
    /// Returns `None` at the 257th color, which a photograph reaches in its first rows.
    fn of(raster: &Raster) -> Option<Self> {
        let mut palette = Palette::new();
        let indices: Option<Vec<u8>> = match raster.layout {
            // Gray is as small without a palette.
            Layout::Gray => return None,
            Layout::Rgb => {
                let (pixels, _) = raster.data.as_chunks::<3>();
                pixels.iter().map(|&[r, g, b]| palette.index([r, g, b, 255])).collect()
            }
            Layout::Rgba => {
                let (pixels, _) = raster.data.as_chunks::<4>();
                pixels.iter().map(|&pixel| palette.index(pixel)).collect()
            }
        };
        let indices = indices?;
        let (depth, bits) = match palette.colors.len() {
            0..=2 => (BitDepth::One, 1),
            3..=4 => (BitDepth::Two, 2),
            5..=16 => (BitDepth::Four, 4),
            _ => (BitDepth::Eight, 8),
        };
        let rows = if bits == 8 { indices } else { pack(&indices, raster.width as usize, bits) };
        let opaque = palette.colors.iter().all(|color| color[3] == 255);
        let alphas = if opaque { &[] } else { palette.colors.as_slice() };
        Some(Self {
            colors: palette.colors.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect(),
            alphas: alphas.iter().map(|color| color[3]).collect(),
            depth,
            rows,
        })
    }
}

/// Packs indices of fewer than eight bits, high bits first, rows on whole bytes.
fn pack(indices: &[u8], width: usize, bits: usize) -> Vec<u8> {
    let each = 8 / bits;
    let mut packed = Vec::with_capacity(indices.len().div_ceil(each) + indices.len() / width);
    for row in indices.chunks(width) {
        packed.extend(row.chunks(each).map(|group| {
            let shifts = (1..=each).map(|i| 8 - bits * i);
            group.iter().zip(shifts).fold(0, |byte, (index, shift)| byte | index << shift)
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
