//! JPEG, decoded by a Rust port of libjpeg-turbo that can scale inside the inverse transform.
//!
//! The size that the decoder reads is checked against the limits and against our own header before
//! it decodes, so the two cannot disagree.

use std::borrow::Cow;

use libjpeg_turbo_rs::{
    ColorSpace, DecodeLimits, Decoder, FrameHeader, Image, JpegError, PixelFormat, ScalingFactor,
};

use super::budget::DecodeBudget;
use super::color::{self, ProfileApplied};
use super::jpeg_crop;
use super::part::{DecodedPart, Note, PartRequest};
use super::row_sink;
use crate::geometry::Rect;
use crate::header::{Header, JpegFrame, jpeg_adobe, jpeg_icc, jpeg_scans};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;
use crate::resize::Window;

/// Largest number of scans; real progressive files have about ten.
const MAX_SCANS: u64 = 100;

/// Pixels times scans that a slow machine decodes in a second.
const PIXELS_PER_SECOND: f64 = 200e6;

/// The end marker.
const END: &[u8] = &[0xff, 0xd9];

/// Bytes that the decoder holds besides the picture.
const DECODER_BYTES: u64 = 2 << 20;

/// Decodes a JPEG file. If it is so large that only a region may be decoded, a small file with that
/// region is decoded instead.
pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    if budget.in_part {
        let small = jpeg_crop::crop(bytes, header, budget, ask)?;
        let held = small.bytes.len() as u64;
        return decode_file(&small.bytes, &small.header, budget, small.ask, held);
    }
    decode_file(bytes, header, budget, ask, 0)
}

/// Decodes a file while `kept` bytes are held besides.
fn decode_file(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
    kept: u64,
) -> Result<DecodedPart, Refusal> {
    let frame = JpegFrame::of(bytes).ok_or_else(|| budget.cut())?;
    if frame.bits != 8 {
        return Err(budget.lacks("more than eight bits a sample"));
    }
    let (scans, ended) = jpeg_scans(bytes);
    check(bytes, budget, &frame, scans)?;
    // With an end marker appended, a file that lacks only that decodes without an error.
    let closed = if ended { Cow::Borrowed(bytes) } else { Cow::Owned([bytes, END].concat()) };
    let bytes = closed.as_ref();

    let limits = DecodeLimits { max_scans: MAX_SCANS as usize, ..DecodeLimits::default() };
    let mut decoder =
        Decoder::new_with_limits(bytes, limits).map_err(|error| refused(budget, &error))?;
    let found = decoder.header();
    let stored =
        if header.turned() { (header.height, header.width) } else { (header.width, header.height) };
    if (u32::from(found.width), u32::from(found.height)) != stored || found.precision != 8 {
        return Err(budget.corrupt(&"it has two headers that differ"));
    }
    let eighths = if found.is_lossless { 8 } else { eighths(ask) };
    let (format, samples) = match decoder.jpeg_color_space() {
        ColorSpace::Grayscale => (PixelFormat::Grayscale, 1),
        ColorSpace::YCbCr | ColorSpace::Rgb => (PixelFormat::Rgb, 3),
        ColorSpace::Cmyk | ColorSpace::Ycck => (PixelFormat::Cmyk, 4),
        ColorSpace::Unknown => return Err(budget.corrupt(&"its colors cannot be told")),
    };
    let factor = factor(eighths).map_err(|error| refused(budget, &error))?;
    let size = (factor.scale_dim(stored.0 as usize), factor.scale_dim(stored.1 as usize));
    let output = (size.0 * size.1 * samples) as u64;
    let held = planes(found, eighths, decoder.jpeg_color_space())
        + if found.is_progressive || decoder.has_multiple_scans() { frame.coefficients } else { 0 }
        + if samples == 4 { output } else { 0 };
    let turned = if header.turned() { output } else { 0 };
    // The picture is turned after everything but the pixels has been freed.
    budget.room(DECODER_BYTES + kept + output + held.max(turned))?;

    decoder.set_output_format(format);
    decoder.set_scale(factor);
    let mut notes = if ended { Vec::new() } else { vec![Note::Damaged] };
    let image = read(&mut decoder, budget, ended, &mut notes)?;
    let (width, height) = (image.width as u32, image.height as u32);
    let mut pixels = image.data;
    if (image.width, image.height) != size || pixels.len() as u64 != output {
        return Err(budget.corrupt(&"its pixels are not as many as its header says"));
    }
    let icc = jpeg_icc(bytes);
    let (raster, applied) = if samples == 4 {
        // Adobe stores inverted inks; every reader goes by its marker.
        if jpeg_adobe(bytes) {
            for sample in &mut pixels {
                *sample = 255 - *sample;
            }
        }
        let named = !matches!(icc, Ok(None));
        let (raster, applied) = color::inks(&pixels, width, height, icc);
        (raster, if named { applied } else { ProfileApplied::Yes })
    } else {
        let layout = if samples == 1 { Layout::Gray } else { Layout::Rgb };
        let mut raster = Raster { width, height, layout, data: pixels };
        let applied = color::by_icc(&mut raster, icc);
        (raster, applied)
    };
    if applied == ProfileApplied::No {
        notes.push(Note::ProfileIgnored);
    }
    let scale = f64::from(eighths) / 8.0;
    let (raster, window) = cut(raster, ask.region, scale);
    Ok(DecodedPart { raster, window, scale, notes })
}

/// Decodes; if the data is damaged, decodes again in the slower lenient mode.
fn read(
    decoder: &mut Decoder<'_>,
    budget: &DecodeBudget<'_>,
    ended: bool,
    notes: &mut Vec<Note>,
) -> Result<Image, Refusal> {
    let image = match decoder.decode_image() {
        // Data that stops early in a file without an end marker means that the file was cut.
        Err(_) if !ended => return Err(budget.cut()),
        Err(JpegError::CorruptData(_) | JpegError::UnexpectedEof) => {
            decoder.set_lenient(true);
            let image = decoder.decode_image().map_err(|error| refused(budget, &error))?;
            notes.push(Note::Damaged);
            return Ok(image);
        }
        read => read.map_err(|error| refused(budget, &error))?,
    };
    if !image.warnings.is_empty() {
        notes.push(Note::Damaged);
    }
    Ok(image)
}

/// Turns a decoder's error into a refusal.
fn refused(budget: &DecodeBudget<'_>, error: &JpegError) -> Refusal {
    match error {
        JpegError::LimitExceeded { .. } => budget.too_slow(),
        JpegError::Unsupported(feature) => budget.lacks(feature),
        error => budget.corrupt(error),
    }
}

/// Bytes of the planes that the decoder fills before it converts them to pixels: one for each
/// component, in whole blocks, and a second one if components other than luma and chroma have to be
/// brought to one size.
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

/// Rejects files that are known to take too long, or to be too short, before any pixel is decoded.
fn check(
    bytes: &[u8],
    budget: &DecodeBudget<'_>,
    frame: &JpegFrame,
    scans: u64,
) -> Result<(), Refusal> {
    // Huffman codes take at least one bit a block in one scan; sixteen blocks a byte leaves slack.
    // Arithmetic codes have no such minimum, but no real file comes near a thousand.
    let blocks = frame.coefficients / 128;
    let blocks_a_byte = if frame.arithmetic { 1024 } else { 16 };
    if bytes.len() as u64 * blocks_a_byte < blocks {
        return Err(budget.cut());
    }
    if frame.several {
        let work = scans as f64 * blocks as f64 * 64.0 / PIXELS_PER_SECOND;
        if scans > MAX_SCANS || work > budget.time.as_secs_f64() {
            return Err(budget.too_slow());
        }
    }
    Ok(())
}

/// The smallest number of eighths that still covers the requested size.
fn eighths(ask: PartRequest) -> u32 {
    let Some((width, height)) = ask.at_most else { return 8 };
    let need = |whole: u32, part: u32| (u64::from(part) * 8).div_ceil(u64::from(whole.max(1)));
    let eighths = need(ask.region.width, width).max(need(ask.region.height, height));
    eighths.clamp(1, 8) as u32
}

/// A number of eighths in lowest terms, as the decoder expects it.
fn factor(eighths: u32) -> Result<ScalingFactor, JpegError> {
    let shift = eighths.trailing_zeros().min(3);
    ScalingFactor::try_new(eighths >> shift, 8 >> shift)
}

/// Cuts the region out of scaled pixels, rounded outward to whole ones, with its exact position.
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
    (row_sink::crop(raster, around), window)
}
