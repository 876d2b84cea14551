//! PNG, decoded row by row.

use std::io::Cursor;

use png::{BitDepth, ColorType, DecodingError, InterlaceInfo, Limits, Reader, Transformations};

use super::budget::DecodeBudget;
use super::color::{self, ProfileApplied};
use super::part::{DecodedPart, Note, PartRequest};
use super::row_sink::{self, RowSink};
use crate::geometry::Rect;
use crate::header::{Color, Header, PngChunks, png_icc};
use crate::raster::Layout;
use crate::refusal::Refusal;

/// Bytes that the decoder may hold besides rows: its window and metadata.
const DECODER_BYTES: u64 = 2 << 20;

/// Best compression ratio of deflate; a file that would need a better one is a lie.
const MAX_DEFLATE_RATIO: u64 = 1032;

/// Number of rows between two checks of the deadline.
const ROWS_PER_CHECK: u32 = 16;

/// Decodes a PNG file, or the still picture of an animated one.
pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    if PngChunks::new(bytes).next().is_some_and(|(kind, _)| kind == b"CgBI") {
        return Err(budget.lacks("Apple's private variant of the format"));
    }
    let factor = row_sink::factor(ask.region, ask.at_most);
    let row = row_bytes(header);
    let raw = (row + 1).saturating_mul(u64::from(header.stored_height));
    if raw > (bytes.len() as u64 + 64) * MAX_DEFLATE_RATIO {
        return Err(budget.cut());
    }
    let whole = if header.passes { header.pixels() * 4 } else { 0 };
    let turned = if header.turned() { 2 } else { 1 };
    let out = row_sink::bytes(ask.region, factor, layout(header)) * turned;
    budget.room(DECODER_BYTES + row * 8 + whole + out)?;

    let mut reader = open(bytes, budget)?;
    // The decoder's output type is used, not the header's: chunks can come late.
    let layout = match reader.output_color_type().0 {
        ColorType::Grayscale => Layout::Gray,
        ColorType::Rgb => Layout::Rgb,
        _ => Layout::Rgba,
    };
    let mut sink = RowSink::new(ask.region, factor, layout);
    let state = if header.passes {
        interlaced(&mut reader, header, budget, &mut sink)?
    } else {
        straight(&mut reader, header, budget, &mut sink)?
    };
    let mut part = sink.done().ok_or_else(|| budget.cut())?;
    if state == State::Damaged {
        part.notes.push(Note::Damaged);
    }
    if to_srgb(bytes, &mut part) == ProfileApplied::No {
        part.notes.push(Note::ProfileIgnored);
    }
    Ok(part)
}

/// The layout that rows will probably have; gray with alpha is widened.
fn layout(header: &Header) -> Layout {
    match (header.color, header.alpha) {
        (_, true) => Layout::Rgba,
        (Color::Gray, false) => Layout::Gray,
        _ => Layout::Rgb,
    }
}

/// Bytes of a stored row.
fn row_bytes(header: &Header) -> u64 {
    let samples = match (header.color, header.alpha) {
        (Color::Rgb, true) => 4,
        (Color::Rgb, false) => 3,
        (Color::Gray, true) if header.bits >= 8 => 2,
        _ => 1,
    };
    (u64::from(header.stored_width) * samples * u64::from(header.bits)).div_ceil(8)
}

/// A PNG reader over a slice.
pub(super) type Rows<'a> = Reader<Cursor<&'a [u8]>>;

/// Opens a reader with limits. Text chunks and profiles are ignored.
pub(super) fn open<'a>(bytes: &'a [u8], budget: &DecodeBudget<'_>) -> Result<Rows<'a>, Refusal> {
    let mut decoder = png::Decoder::new_with_limits(
        Cursor::new(bytes),
        Limits { bytes: usize::try_from(budget.memory).unwrap_or(usize::MAX) },
    );
    decoder.set_transformations(Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.read_info().map_err(|error| refuse(&error, budget))
}

/// Turns a decoder's error into a refusal.
pub(super) fn refuse(error: &DecodingError, budget: &DecodeBudget<'_>) -> Refusal {
    match error {
        DecodingError::IoError(_) => budget.cut(),
        DecodingError::LimitsExceeded => super::budget::too_large(
            "decoding this PNG file needs more memory than allowed".to_owned(),
        ),
        error => budget.corrupt(error),
    }
}

/// Reads a picture without interlacing.
fn straight(
    reader: &mut Rows<'_>,
    header: &Header,
    budget: &DecodeBudget<'_>,
    sink: &mut RowSink,
) -> Result<State, Refusal> {
    let (color, depth) = reader.output_color_type();
    check(depth, budget)?;
    let mut wide = Vec::new();
    for y in 0..header.stored_height {
        if sink.is_past(y) {
            return Ok(State::Sound);
        }
        if y % ROWS_PER_CHECK == 0 {
            budget.on_time()?;
        }
        let row = reader.next_row().map_err(|error| refuse(&error, budget))?;
        let row = row.ok_or_else(|| budget.cut())?;
        sink.row(y, widened(row.data(), color, &mut wide));
    }
    // Every pixel has been read; only the last checksum is left.
    Ok(if reader.next_row().is_err() { State::Damaged } else { State::Sound })
}

/// The state of the data at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    Damaged,
}

/// The transformations guarantee eight bits; anything else is an error.
fn check(depth: BitDepth, budget: &DecodeBudget<'_>) -> Result<(), Refusal> {
    if depth == BitDepth::Eight { Ok(()) } else { Err(budget.corrupt(&"an odd bit depth")) }
}

/// Widens gray with alpha to four samples; other rows are unchanged.
pub(super) fn widened<'a>(row: &'a [u8], color: ColorType, wide: &'a mut Vec<u8>) -> &'a [u8] {
    if color != ColorType::GrayscaleAlpha {
        return row;
    }
    wide.clear();
    wide.extend(row.chunks_exact(2).flat_map(|pair| [pair[0], pair[0], pair[0], pair[1]]));
    wide
}

/// Reads an interlaced picture. Adam7 spreads rows over the whole picture, so all of it is held.
fn interlaced(
    reader: &mut Rows<'_>,
    header: &Header,
    budget: &DecodeBudget<'_>,
    sink: &mut RowSink,
) -> Result<State, Refusal> {
    let (color, depth) = reader.output_color_type();
    check(depth, budget)?;
    let samples = color.samples();
    let stride = header.stored_width as usize * samples;
    let mut whole = vec![0; stride * header.stored_height as usize];
    let (mut seen, mut state) = (0_u64, State::Sound);
    let mut rows = 0_u32;
    loop {
        if rows.is_multiple_of(ROWS_PER_CHECK) {
            budget.on_time()?;
        }
        rows = rows.wrapping_add(1);
        let row = match reader.next_interlaced_row() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(_) if seen >= header.pixels() => {
                state = State::Damaged;
                break;
            }
            Err(error) => return Err(refuse(&error, budget)),
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

/// Converts the picture to sRGB.
fn to_srgb(bytes: &[u8], part: &mut DecodedPart) -> ProfileApplied {
    // `cICP` takes precedence over an ICC profile, by its specification.
    let codes = PngChunks::new(bytes)
        .take_while(|(kind, _)| *kind != b"IDAT")
        .find(|(kind, _)| *kind == b"cICP");
    match codes {
        Some((_, [1, 13 | 1, ..])) => ProfileApplied::Yes,
        Some((_, [primaries, transfer, ..])) => {
            color::by_codes(&mut part.raster, *primaries, *transfer)
        }
        _ => color::by_icc(&mut part.raster, png_icc(bytes)),
    }
}

/// Decodes all of a PNG that is nested in another file.
pub(super) fn whole(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
) -> Result<DecodedPart, Refusal> {
    let region = Rect::whole((header.stored_width, header.stored_height));
    decode(bytes, header, budget, PartRequest { region, at_most: None, frame: 0 })
}
