//! TIFF, decoded by the `tiff` crate one strip or tile at a time.

use std::borrow::Cow;
use std::io::Cursor;

use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError};

use super::budget::{DecodeBudget, too_large};
use super::color::{self, IccProfile, ProfileApplied};
use super::part::{DecodedPart, Note, PartRequest};
use crate::geometry::Rect;
use crate::header::{Color, Header, Profile, jpeg_largest, tiff_photometric, tiff_values};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Longest ICC profile that is read.
const MAX_ICC_BYTES: usize = 4 << 20;

/// Bytes that the decoder holds for each value that an entry lists.
const VALUE: u64 = 32;

/// A TIFF decoder over a slice.
type Pages<'a> = Decoder<Cursor<&'a [u8]>>;

/// Decodes one page of a TIFF file.
pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    let bytes = grayed(bytes, header, ask, budget)?;
    let bytes = bytes.as_ref();
    // The decoder reserves room for as many values as the file claims, before it reads them.
    let values = tiff_values(bytes, ask.frame).ok_or_else(|| budget.cut())? * VALUE;
    budget.room(values)?;
    let mut pages = Decoder::new(Cursor::new(bytes)).map_err(|error| refuse(&error, budget))?;
    if ask.frame > 0 {
        let page = ask.frame as usize;
        pages.seek_to_image(page).map_err(|error| refuse(&error, budget))?;
    }
    let (width, height) = pages.dimensions().map_err(|error| refuse(&error, budget))?;
    if (width, height) != (header.stored_width, header.stored_height) {
        return Err(budget.corrupt(&"two headers disagree"));
    }
    let pixels = u64::from(width) * u64::from(height);
    let color = pages.colortype().map_err(|error| refuse(&error, budget))?;
    let shape = SampleLayout::of(&mut pages, color, header, budget)?;
    let (chunk_width, chunk_height) = pages.chunk_dimensions();
    // A strip may be the whole picture, and the decoder may hold it twice.
    let wide = u64::from(shape.bits).div_ceil(8).max(1);
    let chunk = u64::from(chunk_width) * u64::from(chunk_height);
    let stored = u64::from(chunk_width.min(width)) * u64::from(chunk_height.min(height));
    if budget.in_part && stored > budget.pixels {
        return Err(too_large(format!(
            "the image is {width}x{height}, and its pixels are stored in strips or tiles of {:.1} \
             megapixels, over the limit of {:.1}",
            stored as f64 / 1e6,
            budget.pixels as f64 / 1e6
        )));
    }
    let chunk = chunk.min(pixels.saturating_mul(2)).saturating_mul(shape.samples as u64 * wide);
    let own =
        pixels_of(ask.region) * shape.samples.max(3) as u64 * if header.turned() { 2 } else { 1 };
    // The coefficients of a JPEG inside take two bytes each, and all of them may have to be kept.
    let chunk = if is_jpeg(&mut pages) { chunk * 5 } else { chunk * 2 };
    let copied = if header.color == Color::Palette { bytes.len() as u64 } else { 0 };
    budget.room((own + copied + values + chunk).saturating_add(1 << 20))?;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(budget.memory).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    limits.ifd_value_size = MAX_ICC_BYTES;
    let mut pages = pages.with_limits(limits);
    check_jpegs(
        &mut pages,
        bytes,
        (chunk_width.min(width * 2), chunk_height.min(height * 2)),
        budget,
    )?;

    let data = gather(&mut pages, shape, (width, height), ask.region, budget)?;
    let icc = icc(&mut pages, header);
    let named = !matches!(icc, Ok(None));
    let (raster, applied) = colored(&mut pages, shape, ask.region.size(), data, icc, budget)?;
    let mut part = DecodedPart::whole(raster);
    if named && applied == ProfileApplied::No {
        part.notes.push(Note::ProfileIgnored);
    }
    Ok(part)
}

/// Returns `true` for a page compressed as JPEG.
fn is_jpeg(pages: &mut Pages<'_>) -> bool {
    const JPEG: u16 = 7;
    matches!(pages.find_tag_unsigned::<u16>(Tag::Compression), Ok(Some(JPEG)))
}

/// Refuses JPEG data that claims a larger size than its strip or tile: the decoder trusts that
/// size.
fn check_jpegs(
    pages: &mut Pages<'_>,
    bytes: &[u8],
    most: (u32, u32),
    budget: &DecodeBudget<'_>,
) -> Result<(), Refusal> {
    if !is_jpeg(pages) {
        return Ok(());
    }
    let mut list = |strips, tiles| {
        let found = pages.get_tag_u64_vec(strips).or_else(|_| pages.get_tag_u64_vec(tiles));
        found.map_err(|error| refuse(&error, budget))
    };
    let offsets = list(Tag::StripOffsets, Tag::TileOffsets)?;
    let lengths = list(Tag::StripByteCounts, Tag::TileByteCounts)?;
    // The tables come before each strip, without their end marker.
    let tables = pages.get_tag_u8_vec(Tag::JPEGTables).unwrap_or_default();
    let tables = tables.get(..tables.len().saturating_sub(2)).unwrap_or_default();
    for (&offset, &length) in offsets.iter().zip(&lengths) {
        let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
        let range = range.and_then(|(offset, length)| Some(offset..offset.checked_add(length)?));
        let strip = range.and_then(|range| bytes.get(range)).ok_or_else(|| budget.cut())?;
        let whole = match tables {
            [] => Cow::Borrowed(strip),
            tables => Cow::Owned([tables, strip.get(2..).unwrap_or_default()].concat()),
        };
        let (width, height) = jpeg_largest(&whole);
        if width > most.0 || height > most.1 {
            return Err(budget.corrupt(&"it holds a larger picture than it says"));
        }
    }
    Ok(())
}

/// Relabels a palette image as gray. The decoder does not support palettes; labeled as gray, it
/// returns the indices, which we look up.
fn grayed<'a>(
    bytes: &'a [u8],
    header: &Header,
    ask: PartRequest,
    budget: &DecodeBudget<'_>,
) -> Result<Cow<'a, [u8]>, Refusal> {
    if header.color != Color::Palette {
        return Ok(Cow::Borrowed(bytes));
    }
    budget.room(bytes.len() as u64 + pixels_of(ask.region) * 4)?;
    let at = tiff_photometric(bytes, ask.frame).ok_or_else(|| budget.cut())?;
    let mut bytes = bytes.to_vec();
    let gray = if bytes.starts_with(b"MM") { [0, 1] } else { [1, 0] };
    bytes[at..at + 2].copy_from_slice(&gray);
    Ok(Cow::Owned(bytes))
}

/// Meaning of the samples of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SampleKind {
    Gray,
    GrayAlpha,
    Palette,
    Rgb,
    Rgba,
    Cmyk,
    Ycc,
}

/// Layout of the samples of a strip.
#[derive(Clone, Copy)]
struct SampleLayout {
    kind: SampleKind,
    bits: u8,
    samples: usize,
    planes: bool,
}

impl SampleLayout {
    fn of(
        pages: &mut Pages<'_>,
        color: ColorType,
        header: &Header,
        budget: &DecodeBudget<'_>,
    ) -> Result<Self, Refusal> {
        let planes =
            matches!(pages.find_tag_unsigned::<u16>(Tag::PlanarConfiguration), Ok(Some(2)));
        let gray =
            if header.color == Color::Palette { SampleKind::Palette } else { SampleKind::Gray };
        let (kind, bits, samples) = match color {
            ColorType::Gray(bits) => (gray, bits, 1),
            ColorType::GrayA(bits) | ColorType::Multiband { bit_depth: bits, num_samples: 2 } => {
                (SampleKind::GrayAlpha, bits, 2)
            }
            ColorType::RGB(bits) => (SampleKind::Rgb, bits, 3),
            ColorType::YCbCr(bits) => (SampleKind::Ycc, bits, 3),
            ColorType::RGBA(bits) => (SampleKind::Rgba, bits, 4),
            ColorType::CMYK(bits) => (SampleKind::Cmyk, bits, 4),
            _ => return Err(budget.lacks("an unusual colour space")),
        };
        if !matches!(bits, 1 | 2 | 4 | 8 | 16 | 32) || (bits < 8 && samples > 1) {
            return Err(budget.lacks("an unusual bit depth"));
        }
        Ok(Self { kind, bits, samples, planes })
    }
}

/// Number of pixels of a rectangle.
fn pixels_of(rect: Rect) -> u64 {
    u64::from(rect.width) * u64::from(rect.height)
}

/// Reads the samples of a region at eight bits; indices of a palette stay as they are. Strips and
/// tiles outside the region are not read.
fn gather(
    pages: &mut Pages<'_>,
    shape: SampleLayout,
    (width, height): (u32, u32),
    region: Rect,
    budget: &DecodeBudget<'_>,
) -> Result<Vec<u8>, Refusal> {
    let (wide, high) = pages.chunk_dimensions();
    if wide == 0 || high == 0 {
        return Err(budget.corrupt(&"strips have no size"));
    }
    let across = width.div_ceil(wide);
    let each = across * height.div_ceil(high);
    let planes = if shape.planes { shape.samples as u32 } else { 1 };
    let packed = if shape.planes { 1 } else { shape.samples };
    let stride = region.width as usize * shape.samples;
    let mut data = vec![0; stride * region.height as usize];
    for index in 0..each * planes {
        budget.on_time()?;
        let (plane, place) = ((index / each) as usize, index % each);
        let (part_wide, part_high) = pages.chunk_data_dimensions(index);
        let chunk = Rect::new(place % across * wide, place / across * high, part_wide, part_high);
        let Some(shown) = common(&chunk, &region) else { continue };
        let samples = pages.read_chunk(index).map_err(|error| refuse(&error, budget))?;
        let line = part_wide as usize * packed;
        let samples = eight(&samples, shape, line, part_high as usize)
            .ok_or_else(|| budget.lacks("an unusual sample format"))?;
        let rows = samples.chunks_exact(line.max(1)).skip((shown.y - chunk.y) as usize);
        let left = (shown.x - chunk.x) as usize * packed;
        for (row, samples) in rows.take(shown.height as usize).enumerate() {
            let samples = &samples[left..left + shown.width as usize * packed];
            let start = ((shown.y - region.y) as usize + row) * stride
                + (shown.x - region.x) as usize * shape.samples;
            if shape.planes {
                let spread = data[start..].iter_mut().skip(plane).step_by(shape.samples);
                for (to, from) in spread.zip(samples) {
                    *to = *from;
                }
            } else {
                data[start..start + samples.len()].copy_from_slice(samples);
            }
        }
    }
    Ok(data)
}

/// The rectangle that two rectangles share; `None` if it is empty.
fn common(left: &Rect, right: &Rect) -> Option<Rect> {
    let (x, y) = (left.x.max(right.x), left.y.max(right.y));
    let (end, below) = (left.right().min(right.right()), left.bottom().min(right.bottom()));
    (x < end && y < below).then(|| Rect::new(x, y, end - x, below - y))
}

/// Converts a strip to eight bits a sample.
fn eight(chunk: &DecodingResult, shape: SampleLayout, line: usize, rows: usize) -> Option<Vec<u8>> {
    Some(match chunk {
        DecodingResult::U8(data) if shape.bits >= 8 => data.get(..line * rows)?.to_vec(),
        DecodingResult::U8(data) => unpacked(data, shape, line, rows)?,
        DecodingResult::U16(data) => data.iter().map(|&sample| (sample >> 8) as u8).collect(),
        DecodingResult::U32(data) => data.iter().map(|&sample| (sample >> 24) as u8).collect(),
        DecodingResult::F32(data) => {
            data.iter().map(|&sample| (sample.clamp(0.0, 1.0) * 255.0 + 0.5) as u8).collect()
        }
        _ => return None,
    })
}

/// Unpacks samples of one, two or four bits; rows are padded to whole bytes.
fn unpacked(data: &[u8], shape: SampleLayout, line: usize, rows: usize) -> Option<Vec<u8>> {
    let bits = usize::from(shape.bits);
    let stride = (line * bits).div_ceil(8);
    let mask = (1_u16 << bits) - 1;
    let scale = if shape.kind == SampleKind::Palette { 1 } else { 255 / mask };
    let mut out = Vec::with_capacity(line * rows);
    for row in data.get(..stride * rows)?.chunks_exact(stride.max(1)) {
        out.extend((0..line).map(|n| {
            let at = n * bits;
            let sample = u16::from(row[at / 8]) >> (8 - bits - at % 8) & mask;
            (sample * scale) as u8
        }));
    }
    Some(out)
}

/// Converts samples to a raster in sRGB.
fn colored(
    pages: &mut Pages<'_>,
    shape: SampleLayout,
    (width, height): (u32, u32),
    data: Vec<u8>,
    icc: IccProfile<'_>,
    budget: &DecodeBudget<'_>,
) -> Result<(Raster, ProfileApplied), Refusal> {
    let raster = |layout, data| Raster { width, height, layout, data };
    let mut raster = match shape.kind {
        SampleKind::Cmyk => return Ok(color::inks(&data, width, height, icc)),
        SampleKind::Palette => {
            let map =
                pages.get_tag_u16_vec(Tag::ColorMap).map_err(|error| refuse(&error, budget))?;
            raster(Layout::Rgb, looked_up(&data, &map, shape.bits))
        }
        SampleKind::GrayAlpha => raster(
            Layout::Rgba,
            data.chunks_exact(2).flat_map(|pair| [pair[0], pair[0], pair[0], pair[1]]).collect(),
        ),
        SampleKind::Ycc => raster(Layout::Rgb, data.chunks_exact(3).flat_map(from_ycc).collect()),
        SampleKind::Rgba => raster(Layout::Rgba, data),
        SampleKind::Rgb => raster(Layout::Rgb, data),
        SampleKind::Gray => raster(Layout::Gray, data),
    };
    let applied = color::by_icc(&mut raster, icc);
    Ok((raster, applied))
}

/// Looks up palette indices. The map holds all reds, then all greens, then all blues.
fn looked_up(data: &[u8], map: &[u16], bits: u8) -> Vec<u8> {
    let count = 1_usize << bits.min(8);
    let at = |n: usize| map.get(n).map_or(0, |&level| (level >> 8) as u8);
    let colors: Vec<[u8; 3]> =
        (0..256).map(|n| [at(n), at(n + count), at(n + count * 2)]).collect();
    data.iter().flat_map(|&index| colors[usize::from(index)]).collect()
}

/// Converts a pixel from `YCbCr` to RGB.
fn from_ycc(pixel: &[u8]) -> [u8; 3] {
    let (luma, blue, red) =
        (f32::from(pixel[0]), f32::from(pixel[1]) - 128.0, f32::from(pixel[2]) - 128.0);
    [
        (luma + 1.402 * red + 0.5) as u8,
        (luma - 0.344_136 * blue - 0.714_136 * red + 0.5) as u8,
        (luma + 1.772 * blue + 0.5) as u8,
    ]
}

/// Reads the ICC profile of a page.
fn icc(pages: &mut Pages<'_>, header: &Header) -> IccProfile<'static> {
    if header.profile != Some(Profile::Icc) {
        return Ok(None);
    }
    pages.get_tag_u8_vec(Tag::IccProfile).map(|icc| Some(Cow::Owned(icc))).map_err(|_| ())
}

/// Turns a decoder's error into a refusal.
fn refuse(error: &TiffError, budget: &DecodeBudget<'_>) -> Refusal {
    match error {
        TiffError::IoError(_) => budget.cut(),
        TiffError::LimitsExceeded => {
            too_large("decoding this TIFF file needs more memory than allowed".to_owned())
        }
        TiffError::UnsupportedError(_) => budget.lacks("a compression or layout"),
        error => budget.corrupt(error),
    }
}
