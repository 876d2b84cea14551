//! PNG, row by row.

use std::io::Cursor;

use png::{BitDepth, ColorType, DecodingError, InterlaceInfo, Limits, Reader, Transformations};

use super::bounds::Bounds;
use super::color::{self, Applied};
use super::sink::{self, Sink};
use super::{Ask, Note, Part};
use crate::geometry::Rect;
use crate::header::{Color, Header, PngChunks, png_icc};
use crate::raster::Layout;
use crate::refusal::Refusal;

/// What the decoder may hold beside rows: its window and whatever metadata it keeps.
const OWN: u64 = 2 << 20;

/// Deflate cannot do better than this; a file that would have to is a lie.
const RATIO_MOST: u64 = 1032;

/// How many rows pass between two looks at the clock.
const ROWS_A_LOOK: u32 = 16;

pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    if PngChunks::new(bytes).next().is_some_and(|(kind, _)| kind == b"CgBI") {
        return Err(bounds.lacks("Apple's private variant of the format"));
    }
    let factor = sink::factor(ask.region, ask.at_most);
    let row = row_bytes(header);
    let raw = (row + 1) * u64::from(header.stored_height);
    if raw > (bytes.len() as u64 + 64) * RATIO_MOST {
        return Err(bounds.cut());
    }
    let whole = if header.passes { header.pixels() * 4 } else { 0 };
    let turned = if header.turned() { 2 } else { 1 };
    let out = sink::bytes(ask.region, factor, layout(header)) * turned;
    bounds.room(OWN + row * 8 + whole + out)?;

    let mut reader = open(bytes, bounds)?;
    // What the decoder gives, not what the header led us to expect: chunks can come late.
    let layout = match reader.output_color_type().0 {
        ColorType::Grayscale => Layout::Gray,
        ColorType::Rgb => Layout::Rgb,
        _ => Layout::Rgba,
    };
    let mut sink = Sink::new(ask.region, factor, layout);
    let state = if header.passes {
        interlaced(&mut reader, header, bounds, &mut sink)?
    } else {
        straight(&mut reader, header, bounds, &mut sink)?
    };
    let mut part = sink.done().ok_or_else(|| bounds.cut())?;
    if state == State::Damaged {
        part.notes.push(Note::Damaged);
    }
    if to_srgb(bytes, &mut part) == Applied::No {
        part.notes.push(Note::ProfileIgnored);
    }
    Ok(part)
}

/// The layout that rows will probably come out in; gray with alpha is widened.
fn layout(header: &Header) -> Layout {
    match (header.color, header.alpha) {
        (_, true) => Layout::Rgba,
        (Color::Gray, false) => Layout::Gray,
        _ => Layout::Rgb,
    }
}

fn row_bytes(header: &Header) -> u64 {
    let samples = match (header.color, header.alpha) {
        (Color::Rgb, true) => 4,
        (Color::Rgb, false) => 3,
        (Color::Gray, true) if header.bits >= 8 => 2,
        _ => 1,
    };
    (u64::from(header.stored_width) * samples * u64::from(header.bits)).div_ceil(8)
}

pub(super) type Rows<'a> = Reader<Cursor<&'a [u8]>>;

/// A reader with its own limits; text and profiles are not its business.
pub(super) fn open<'a>(bytes: &'a [u8], bounds: &Bounds<'_>) -> Result<Rows<'a>, Refusal> {
    let mut decoder = png::Decoder::new_with_limits(
        Cursor::new(bytes),
        Limits { bytes: usize::try_from(bounds.memory).unwrap_or(usize::MAX) },
    );
    decoder.set_transformations(Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.read_info().map_err(|error| refuse(&error, bounds))
}

pub(super) fn refuse(error: &DecodingError, bounds: &Bounds<'_>) -> Refusal {
    match error {
        DecodingError::IoError(_) => bounds.cut(),
        DecodingError::LimitsExceeded => super::bounds::too_large(
            "decoding this PNG file needs more memory than allowed".to_owned(),
        ),
        error => bounds.corrupt(error),
    }
}

fn straight(
    reader: &mut Rows<'_>,
    header: &Header,
    bounds: &Bounds<'_>,
    sink: &mut Sink,
) -> Result<State, Refusal> {
    let (color, depth) = reader.output_color_type();
    check(depth, bounds)?;
    let mut wide = Vec::new();
    for y in 0..header.stored_height {
        if sink.is_past(y) {
            return Ok(State::Sound);
        }
        if y % ROWS_A_LOOK == 0 {
            bounds.on_time()?;
        }
        let row = reader.next_row().map_err(|error| refuse(&error, bounds))?;
        let row = row.ok_or_else(|| bounds.cut())?;
        sink.row(y, widened(row.data(), color, &mut wide));
    }
    // Every pixel is there; what is left is the last checksum.
    Ok(if reader.next_row().is_err() { State::Damaged } else { State::Sound })
}

/// How the data ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    Damaged,
}

/// Eight bits is what the transformations promise.
fn check(depth: BitDepth, bounds: &Bounds<'_>) -> Result<(), Refusal> {
    if depth == BitDepth::Eight { Ok(()) } else { Err(bounds.corrupt(&"an odd bit depth")) }
}

/// Gray with alpha becomes four samples; other rows pass.
pub(super) fn widened<'a>(row: &'a [u8], color: ColorType, wide: &'a mut Vec<u8>) -> &'a [u8] {
    if color != ColorType::GrayscaleAlpha {
        return row;
    }
    wide.clear();
    wide.extend(row.chunks_exact(2).flat_map(|pair| [pair[0], pair[0], pair[0], pair[1]]));
    wide
}

/// Adam7 scatters rows over the whole picture, which must be held.
fn interlaced(
    reader: &mut Rows<'_>,
    header: &Header,
    bounds: &Bounds<'_>,
    sink: &mut Sink,
) -> Result<State, Refusal> {
    let (color, depth) = reader.output_color_type();
    check(depth, bounds)?;
    let samples = color.samples();
    let stride = header.stored_width as usize * samples;
    let mut whole = vec![0; stride * header.stored_height as usize];
    let (mut seen, mut state) = (0_u64, State::Sound);
    let mut rows = 0_u32;
    loop {
        if rows.is_multiple_of(ROWS_A_LOOK) {
            bounds.on_time()?;
        }
        rows = rows.wrapping_add(1);
        let row = match reader.next_interlaced_row() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(_) if seen >= header.pixels() => {
                state = State::Damaged;
                break;
            }
            Err(error) => return Err(refuse(&error, bounds)),
        };
        seen += (row.data().len() / samples) as u64;
        if let InterlaceInfo::Adam7(pass) = row.interlace() {
            png::expand_interlaced_row(&mut whole, stride, row.data(), pass, samples as u8 * 8);
        }
    }
    let mut wide = Vec::new();
    for (y, row) in whole.chunks_exact(stride).enumerate() {
        sink.row(y as u32, widened(row, color, &mut wide));
    }
    Ok(state)
}

fn to_srgb(bytes: &[u8], part: &mut Part) -> Applied {
    // The code points win over a profile, by the specification of `cICP`.
    let codes = PngChunks::new(bytes)
        .take_while(|(kind, _)| *kind != b"IDAT")
        .find(|(kind, _)| *kind == b"cICP");
    match codes {
        Some((_, [1, 13 | 1, ..])) => Applied::Yes,
        Some((_, [primaries, transfer, ..])) => {
            color::by_codes(&mut part.raster, *primaries, *transfer)
        }
        _ => color::by_icc(&mut part.raster, png_icc(bytes)),
    }
}

/// A nested file whose place and size are its own: the whole of it.
pub(super) fn whole(bytes: &[u8], header: &Header, bounds: &Bounds<'_>) -> Result<Part, Refusal> {
    let region = Rect::whole((header.stored_width, header.stored_height));
    decode(bytes, header, bounds, Ask { region, at_most: None, frame: 0 })
}
