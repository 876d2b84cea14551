//! JPEG by a port of libjpeg-turbo to Rust, which scales inside the inverse transform as that does.
//!
//! The decoder's own reading of the header is held against the limits and against ours before it
//! decodes, so that the two cannot disagree about a size.

use std::borrow::Cow;

use libjpeg_turbo_rs::{
    ColorSpace, DecodeLimits, Decoder, FrameHeader, Image, JpegError, PixelFormat, ScalingFactor,
};

use super::bounds::Bounds;
use super::color::{self, Applied};
use super::sink;
use super::{Ask, Note, Part, Window};
use crate::geometry::Rect;
use crate::header::{Header, JpegFrame, jpeg_adobe, jpeg_icc, jpeg_scans};
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

    let limits = DecodeLimits { max_scans: SCANS_MOST as usize, ..DecodeLimits::default() };
    let mut decoder =
        Decoder::new_with_limits(bytes, limits).map_err(|error| refused(bounds, &error))?;
    let found = decoder.header();
    let stored =
        if header.turned() { (header.height, header.width) } else { (header.width, header.height) };
    if (u32::from(found.width), u32::from(found.height)) != stored || found.precision != 8 {
        return Err(bounds.corrupt(&"it has two headers that differ"));
    }
    let eighths = if found.is_lossless { 8 } else { eighths(ask) };
    let (format, samples) = match decoder.jpeg_color_space() {
        ColorSpace::Grayscale => (PixelFormat::Grayscale, 1),
        ColorSpace::YCbCr | ColorSpace::Rgb => (PixelFormat::Rgb, 3),
        ColorSpace::Cmyk | ColorSpace::Ycck => (PixelFormat::Cmyk, 4),
        ColorSpace::Unknown => return Err(bounds.corrupt(&"its colors cannot be told")),
    };
    let factor = factor(eighths).map_err(|error| refused(bounds, &error))?;
    let size = (factor.scale_dim(stored.0 as usize), factor.scale_dim(stored.1 as usize));
    let output = (size.0 * size.1 * samples) as u64;
    let held = planes(found, eighths, decoder.jpeg_color_space())
        + if found.is_progressive || decoder.has_multiple_scans() { frame.coefficients } else { 0 }
        + if samples == 4 { output } else { 0 };
    let turned = if header.turned() { output } else { 0 };
    // Turned when all but the pixels is gone again.
    bounds.room(OWN + output + held.max(turned))?;

    decoder.set_output_format(format);
    decoder.set_scale(factor);
    let mut notes = if ended { Vec::new() } else { vec![Note::Damaged] };
    let image = read(&mut decoder, bounds, ended, &mut notes)?;
    let (width, height) = (image.width as u32, image.height as u32);
    let mut pixels = image.data;
    if (image.width, image.height) != size || pixels.len() as u64 != output {
        return Err(bounds.corrupt(&"its pixels are not as many as its header says"));
    }
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
    let scale = f64::from(eighths) / 8.0;
    let (raster, window) = cut(raster, ask.region, scale);
    Ok(Part { raster, window, scale, notes })
}

/// Decodes, and again with patience if the data is damaged: the patient way is slower.
fn read(
    decoder: &mut Decoder<'_>,
    bounds: &Bounds<'_>,
    ended: bool,
    notes: &mut Vec<Note>,
) -> Result<Image, Refusal> {
    let image = match decoder.decode_image() {
        // Without its end, data that stops early is a file that was cut.
        Err(_) if !ended => return Err(bounds.cut()),
        Err(JpegError::CorruptData(_) | JpegError::UnexpectedEof) => {
            decoder.set_lenient(true);
            let image = decoder.decode_image().map_err(|error| refused(bounds, &error))?;
            notes.push(Note::Damaged);
            return Ok(image);
        }
        read => read.map_err(|error| refused(bounds, &error))?,
    };
    if !image.warnings.is_empty() {
        notes.push(Note::Damaged);
    }
    Ok(image)
}

fn refused(bounds: &Bounds<'_>, error: &JpegError) -> Refusal {
    match error {
        JpegError::LimitExceeded { .. } => bounds.too_slow(),
        JpegError::Unsupported(feature) => bounds.lacks(feature),
        error => bounds.corrupt(error),
    }
}

/// Bytes of the planes that the decoder fills before it makes pixels of them: one for each
/// component, in whole blocks, and another where components that are not luma and chroma have to
/// be brought to one size.
fn planes(frame: &FrameHeader, eighths: u32, space: ColorSpace) -> u64 {
    let (across, down) = frame.components.iter().fold((1, 1), |(across, down), component| {
        (across.max(component.horizontal_sampling), down.max(component.vertical_sampling))
    });
    let whole = |edge: u16, most: u8| {
        u64::from(edge).div_ceil(8 * u64::from(most)) * u64::from(most) * u64::from(eighths)
    };
    let plane = whole(frame.width, across) * whole(frame.height, down);
    let count = match (space, frame.is_lossless) {
        (ColorSpace::Grayscale | ColorSpace::YCbCr, false) => frame.components.len(),
        // Lossless samples are kept in two bytes.
        (_, true) => frame.components.len() * 3,
        _ => frame.components.len() * 2,
    };
    plane * count as u64
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

/// The smallest n of eighths that still covers what is asked.
fn eighths(ask: Ask) -> u32 {
    let Some((width, height)) = ask.at_most else { return 8 };
    let need = |whole: u32, part: u32| (u64::from(part) * 8).div_ceil(u64::from(whole.max(1)));
    let eighths = need(ask.region.width, width).max(need(ask.region.height, height));
    eighths.clamp(1, 8) as u32
}

/// So many eighths in the lowest terms, as the decoder wants them.
fn factor(eighths: u32) -> Result<ScalingFactor, JpegError> {
    let shift = eighths.trailing_zeros().min(3);
    ScalingFactor::try_new(eighths >> shift, 8 >> shift)
}

/// The region in scaled pixels, outward to whole ones, and where it lies among them.
fn cut(raster: Raster, region: Rect, scale: f64) -> (Raster, Window) {
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
