//! BMP and ICO, decoded by the `image` crate; a region of a very large BMP is read by rows.

use std::io::Cursor;

use image::codecs::bmp::BmpDecoder;
use image::codecs::ico::IcoDecoder;
use image::{ColorType, ImageDecoder, ImageError, Limits};

use super::bmp_rows::BmpRows;
use super::budget::{DecodeBudget, too_large};
use super::part::{DecodedPart, PartRequest};
use super::png;
use super::row_sink::crop;
use crate::header::{self, Header, ico_best};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Decodes a BMP file.
pub(super) fn bmp(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    if budget.in_part {
        let rows = BmpRows::of(bytes, header).ok_or_else(|| budget.cut())?;
        return rows.decode(budget, ask);
    }
    budget.room(header.pixels() * 5)?;
    let decoder = BmpDecoder::new(Cursor::new(bytes)).map_err(|error| refuse(&error, budget))?;
    Ok(DecodedPart::whole(crop(read(decoder, budget)?, ask.region)))
}

/// Decodes the largest picture of an icon, which is a small archive. A PNG inside gets all checks
/// of a PNG file.
pub(super) fn ico(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    let (_, number) = ico_best(bytes).ok_or_else(|| budget.cut())?;
    let at = 6 + number * 16;
    let entry = bytes.get(at..at + 16).ok_or_else(|| budget.cut())?;
    let offset = u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]) as usize;
    let body = bytes.get(offset..).ok_or_else(|| budget.cut())?;
    if body.starts_with(b"\x89PNG") {
        let nested = header::probe(body)?;
        if nested.pixels() > budget.pixels {
            return Err(too_large("the PNG inside the icon has too many pixels".to_owned()));
        }
        let part = png::whole(body, &nested, budget)?;
        return Ok(DecodedPart {
            notes: part.notes,
            ..DecodedPart::whole(crop(part.raster, ask.region))
        });
    }
    budget.room(header.pixels() * 10)?;
    let single = single(entry, body);
    let decoder = IcoDecoder::new(Cursor::new(single)).map_err(|error| refuse(&error, budget))?;
    if decoder.dimensions() != (header.stored_width, header.stored_height) {
        return Err(budget.corrupt(&"its pictures and its directory disagree"));
    }
    Ok(DecodedPart::whole(crop(read(decoder, budget)?, ask.region)))
}

/// Builds an icon file with one picture.
fn single(entry: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u32::from_le_bytes([entry[8], entry[9], entry[10], entry[11]]) as usize;
    let body = &body[..length.min(body.len())];
    let mut file = vec![0, 0, 1, 0, 1, 0];
    file.extend_from_slice(&entry[..8]);
    file.extend_from_slice(&(body.len() as u32).to_le_bytes());
    file.extend_from_slice(&22_u32.to_le_bytes());
    file.extend_from_slice(body);
    file
}

/// Reads all pixels of a decoder of the `image` crate, under that crate's limits as well.
pub(super) fn read(
    mut decoder: impl ImageDecoder,
    budget: &DecodeBudget<'_>,
) -> Result<Raster, Refusal> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(budget.memory);
    decoder.set_limits(limits).map_err(|error| refuse(&error, budget))?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > budget.pixels {
        return Err(too_large(format!("the image is {width}x{height}")));
    }
    let color = decoder.color_type();
    budget.room(decoder.total_bytes())?;
    let mut data = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut data).map_err(|error| refuse(&error, budget))?;
    let layout = match color {
        ColorType::L8 => Layout::Gray,
        ColorType::Rgb8 => Layout::Rgb,
        ColorType::Rgba8 => Layout::Rgba,
        _ => return Err(budget.lacks("an unusual pixel layout")),
    };
    Ok(Raster { width, height, layout, data })
}

/// Turns a decoder's error into a refusal.
fn refuse(error: &ImageError, budget: &DecodeBudget<'_>) -> Refusal {
    match error {
        ImageError::IoError(_) => budget.cut(),
        ImageError::Limits(_) => too_large("decoding needs more memory than allowed".to_owned()),
        ImageError::Unsupported(_) => budget.lacks("an unusual variant"),
        error => budget.corrupt(error),
    }
}
