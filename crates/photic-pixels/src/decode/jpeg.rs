//! JPEG by libjpeg-turbo, which scales inside the inverse transform.

use std::borrow::Cow;

use turbojpeg::{Colorspace, Decompressor, Image, PixelFormat, ScalingFactor};

use super::bounds::Bounds;
use super::color::{self, Applied};
use super::{Ask, Note, Part, Window};
use super::{icon, sink};
use crate::geometry::Rect;
use crate::header::{Color, Header, JpegFrame, jpeg_adobe, jpeg_icc, jpeg_scans};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Most scans: real progressive files have about ten.
const SCANS_MOST: u64 = 100;

/// Pixels times scans that a slow machine gets through in a second.
const SCANNED_A_SECOND: f64 = 200e6;

/// The end marker.
const END: &[u8] = &[0xff, 0xd9];

/// What the decoder holds beside the picture.
const OWN: u64 = 2 << 20;

pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    let frame = JpegFrame::of(bytes).ok_or_else(|| bounds.cut())?;
    if frame.bits != 8 {
        return Err(bounds.lacks("more than eight bits a sample"));
    }
    let (scans, ended) = jpeg_scans(bytes);
    check(bytes, bounds, &frame, scans)?;
    // With an end put on, a file that lacks only that decodes without complaint.
    let closed = if ended { Cow::Borrowed(bytes) } else { Cow::Owned([bytes, END].concat()) };
    let bytes = closed.as_ref();

    let mut decoder = Decompressor::new().map_err(|error| bounds.corrupt(&error))?;
    let head = match decoder.read_header(bytes) {
        Ok(head) => head,
        // The binding takes a warning about the header for an error and gives no picture.
        Err(error) if is_warning(&error.to_string()) => return other(bytes, header, bounds, ask),
        Err(error) => return Err(bounds.corrupt(&error)),
    };
    let factor = if head.is_lossless { ScalingFactor::ONE } else { scaling(ask) };
    let (format, samples) = match head.colorspace {
        Colorspace::Gray => (PixelFormat::GRAY, 1),
        Colorspace::CMYK | Colorspace::YCCK => (PixelFormat::CMYK, 4),
        Colorspace::RGB | Colorspace::YCbCr => (PixelFormat::RGB, 3),
    };
    let scaled = head.scaled(factor);
    let size = scaled.width as u64 * scaled.height as u64 * samples as u64;
    let kept = if frame.several { frame.coefficients } else { 0 };
    let again = if samples == 4 { size } else { 0 };
    // A few rows of blocks are always held.
    let rows = head.width as u64 * 4 * 64;
    let turned = if header.turned() { 2 } else { 1 };
    bounds.room(OWN + size * turned + kept + again + rows)?;

    decoder.set_scaling_factor(factor).map_err(|error| bounds.corrupt(&error))?;
    decoder.set_scan_limit(SCANS_MOST as u32).map_err(|error| bounds.corrupt(&error))?;
    let mut pixels = vec![0; size as usize];
    let image = Image {
        pixels: pixels.as_mut_slice(),
        width: scaled.width,
        pitch: scaled.width * samples,
        height: scaled.height,
        format,
    };
    let mut notes = if ended { Vec::new() } else { vec![Note::Damaged] };
    if let Err(error) = decoder.decompress(bytes, image) {
        if !ended {
            return Err(bounds.cut());
        }
        // A warning and an error look the same from here; a warning leaves a picture.
        if !is_warning(&error.to_string()) {
            return Err(bounds.corrupt(&error));
        }
        notes.push(Note::Damaged);
    }
    let (width, height) = (scaled.width as u32, scaled.height as u32);
    let icc = jpeg_icc(bytes);
    let (raster, applied) = if samples == 4 {
        // Adobe writes inks the other way round, and every reader goes by its mark.
        if jpeg_adobe(bytes) {
            for sample in &mut pixels {
                *sample = 255 - *sample;
            }
        }
        let named = !matches!(icc, Ok(None));
        let (raster, applied) = color::inks(&pixels, width, height, icc);
        (raster, if named { applied } else { Applied::Yes })
    } else {
        let layout = if samples == 1 { Layout::Gray } else { Layout::Rgb };
        let mut raster = Raster { width, height, layout, data: pixels };
        let applied = color::by_icc(&mut raster, icc);
        (raster, applied)
    };
    if applied == Applied::No {
        notes.push(Note::ProfileIgnored);
    }
    let (raster, window) = cut(raster, ask.region, factor);
    let scale = factor.num() as f64 / factor.denom() as f64;
    Ok(Part { raster, window, scale, notes })
}

/// What can be known to be too much, or too little, before any pixel.
fn check(bytes: &[u8], bounds: &Bounds<'_>, frame: &JpegFrame, scans: u64) -> Result<(), Refusal> {
    // Huffman codes cost at least a bit a block in one scan: less is a lie, and sixteen leaves
    // slack. Arithmetic codes have no such floor, but nothing real comes near a thousand.
    let blocks = frame.coefficients / 128;
    let blocks_a_byte = if frame.arithmetic { 1024 } else { 16 };
    if bytes.len() as u64 * blocks_a_byte < blocks {
        return Err(bounds.cut());
    }
    if frame.several {
        let work = scans as f64 * blocks as f64 * 64.0 / SCANNED_A_SECOND;
        if scans > SCANS_MOST || work > bounds.time.as_secs_f64() {
            return Err(bounds.too_slow());
        }
    }
    Ok(())
}

/// The smallest n/8 that still covers what is asked.
fn scaling(ask: Ask) -> ScalingFactor {
    let Some((width, height)) = ask.at_most else { return ScalingFactor::ONE };
    let need = |whole: u32, part: u32| (u64::from(part) * 8).div_ceil(u64::from(whole.max(1)));
    let eighths = need(ask.region.width, width).max(need(ask.region.height, height));
    ScalingFactor::new(eighths.clamp(1, 8) as usize, 8)
}

/// The region in scaled pixels, outward to whole ones, and where it lies among them.
fn cut(raster: Raster, region: Rect, factor: ScalingFactor) -> (Raster, Window) {
    let scale = factor.num() as f64 / factor.denom() as f64;
    let (left, top) = (f64::from(region.x) * scale, f64::from(region.y) * scale);
    let (right, bottom) = (f64::from(region.right()) * scale, f64::from(region.bottom()) * scale);
    let (x, y) = (left.floor(), top.floor());
    let around = Rect {
        x: x as u32,
        y: y as u32,
        width: (right.ceil() as u32).min(raster.width) - x as u32,
        height: (bottom.ceil() as u32).min(raster.height) - y as u32,
    };
    let window = Window { x: left - x, y: top - y, width: right - left, height: bottom - top };
    (sink::crop(raster, around), window)
}

/// The messages of libjpeg that leave a whole picture behind.
fn is_warning(error: &str) -> bool {
    [
        "Corrupt JPEG data",
        "Inconsistent progression",
        "Invalid SOS parameters",
        "Unknown Adobe",
        "unknown JFIF",
    ]
    .iter()
    .any(|sign| error.contains(sign))
}

/// The Rust decoder, slower and without scaling, for headers that libjpeg frowns at.
fn other(bytes: &[u8], header: &Header, bounds: &Bounds<'_>, ask: Ask) -> Result<Part, Refusal> {
    bounds.room(OWN + header.pixels() * 10)?;
    let decoder = image::codecs::jpeg::JpegDecoder::new(std::io::Cursor::new(bytes))
        .map_err(|error| bounds.corrupt(&error))?;
    let mut raster = icon::read(decoder, bounds)?;
    let applied = match header.color {
        Color::Cmyk => Applied::Yes,
        _ => color::by_icc(&mut raster, jpeg_icc(bytes)),
    };
    let (raster, window) = cut(raster, ask.region, ScalingFactor::ONE);
    let mut notes = vec![Note::Damaged];
    if applied == Applied::No {
        notes.push(Note::ProfileIgnored);
    }
    Ok(Part { raster, window, scale: 1.0, notes })
}
