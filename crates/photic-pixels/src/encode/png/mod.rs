//! Writes PNG files: the smallest color type that holds the pixels, filters by trial, and
//! libdeflate.
//!
//! A picture of at most 256 colors is written in gray or with a palette, at the smallest depth.
//! The same pixels give the same bytes on any machine: the bytes do not depend on the processor, on
//! a clock or on threads.

mod filter;
mod palette;

use std::borrow::Cow;

use libdeflater::{CompressionLvl, Compressor};

use super::formats::EncoderFailed;
use crate::{Layout, Raster};

pub(super) use palette::has_few_colors;

/// The time that making a file smaller may take.
#[derive(Clone, Copy)]
pub(super) enum Compression {
    /// Within a few percent of the smallest file, at a tenth of its time.
    Usual,
    /// The smallest file that is worth its time, where a limit is just missed.
    Most,
}

impl Compression {
    /// The level of libdeflate. Up to 9 it takes the longest match that it finds; from 10 on it
    /// searches for the cheapest sequence of matches, at ten times the time for five percent.
    fn level(self) -> i32 {
        match self {
            Self::Usual => 6,
            Self::Most => 10,
        }
    }
}

/// Samples as they are stored in a PNG.
struct Samples<'a> {
    color_type: ColorType,
    /// Bits of a sample.
    depth: u8,
    /// Bytes of a row.
    row_len: usize,
    /// The colors of a palette, three bytes each.
    colors: Vec<u8>,
    /// The alpha of each color of the palette; colors at the end that are opaque are left out.
    alphas: Vec<u8>,
    rows: Cow<'a, [u8]>,
}

/// The color types of PNG.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColorType {
    Gray = 0,
    Rgb = 2,
    Indexed = 3,
    Rgba = 6,
}

/// Encodes a PNG.
pub(super) fn encode(raster: &Raster, compression: Compression) -> Result<Vec<u8>, EncoderFailed> {
    let samples = palette::reduced(raster).unwrap_or_else(|| as_they_are(raster));
    let level = CompressionLvl::new(compression.level()).map_err(|_| EncoderFailed)?;
    let mut compressor = Compressor::new(level);
    let filtered = filter::filtered(&samples)?;
    let packed = deflated(&mut compressor, &filtered)?;

    let mut out = Vec::with_capacity(packed.len() + samples.colors.len() + 512);
    out.extend_from_slice(b"\x89PNG\r\n\x1a\n");
    let mut header = Vec::with_capacity(13);
    header.extend_from_slice(&raster.width.to_be_bytes());
    header.extend_from_slice(&raster.height.to_be_bytes());
    header.extend_from_slice(&[samples.depth, samples.color_type as u8, 0, 0, 0]);
    chunk(&mut out, *b"IHDR", &header);
    if samples.color_type == ColorType::Indexed {
        chunk(&mut out, *b"PLTE", &samples.colors);
        if !samples.alphas.is_empty() {
            chunk(&mut out, *b"tRNS", &samples.alphas);
        }
    }
    for part in packed.chunks(MAX_CHUNK) {
        chunk(&mut out, *b"IDAT", part);
    }
    chunk(&mut out, *b"IEND", &[]);
    Ok(out)
}

/// The largest chunk that is written; the format allows almost twice as much.
const MAX_CHUNK: usize = 1 << 30;

/// Writes a chunk with its length and checksum.
fn chunk(out: &mut Vec<u8>, kind: [u8; 4], body: &[u8]) {
    // At most `MAX_CHUNK`.
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(&kind);
    out.extend_from_slice(body);
    let sum = libdeflater::crc32(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&sum.to_be_bytes());
}

/// Compresses bytes into a zlib stream.
fn deflated(compressor: &mut Compressor, bytes: &[u8]) -> Result<Vec<u8>, EncoderFailed> {
    let mut packed = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor.zlib_compress(bytes, &mut packed).map_err(|_| EncoderFailed)?;
    packed.truncate(length);
    Ok(packed)
}

/// The samples of a picture of many colors.
fn as_they_are(raster: &Raster) -> Samples<'_> {
    let color_type = match raster.layout {
        Layout::Gray => ColorType::Gray,
        Layout::Rgb => ColorType::Rgb,
        Layout::Rgba => ColorType::Rgba,
    };
    Samples {
        color_type,
        depth: 8,
        row_len: raster.width as usize * raster.layout.samples(),
        colors: Vec::new(),
        alphas: Vec::new(),
        rows: Cow::Borrowed(&raster.data),
    }
}

impl Samples<'_> {
    /// Bytes from a sample to the same sample of the pixel at its left.
    fn pixel_len(&self) -> usize {
        match self.color_type {
            ColorType::Gray | ColorType::Indexed => 1,
            ColorType::Rgb => 3,
            ColorType::Rgba => 4,
        }
    }
}
