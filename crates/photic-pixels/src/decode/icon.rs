//! BMP and ICO, by the `image` crate.

use std::io::Cursor;

use image::codecs::bmp::BmpDecoder;
use image::codecs::ico::IcoDecoder;
use image::{ColorType, ImageDecoder, ImageError, Limits};

use super::bounds::{Bounds, too_large};
use super::sink::crop;
use super::{Ask, Part, png};
use crate::header::{self, Header, ico_best};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

pub(super) fn bmp(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    bounds.room(header.pixels() * 5)?;
    let decoder = BmpDecoder::new(Cursor::new(bytes)).map_err(|error| refuse(&error, bounds))?;
    Ok(Part::whole(crop(read(decoder, bounds)?, ask.region)))
}

/// An icon is a small archive. The largest picture is taken out; a PNG inside is a PNG, with all
/// that is checked of one.
pub(super) fn ico(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    let (_, number) = ico_best(bytes).ok_or_else(|| bounds.cut())?;
    let at = 6 + number * 16;
    let entry = bytes.get(at..at + 16).ok_or_else(|| bounds.cut())?;
    let offset = u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]) as usize;
    let body = bytes.get(offset..).ok_or_else(|| bounds.cut())?;
    if body.starts_with(b"\x89PNG") {
        let nested = header::probe(body)?;
        if nested.pixels() > bounds.pixels {
            return Err(too_large("the PNG inside the icon has too many pixels".to_owned()));
        }
        let part = png::whole(body, &nested, bounds)?;
        return Ok(Part { notes: part.notes, ..Part::whole(crop(part.raster, ask.region)) });
    }
    bounds.room(header.pixels() * 10)?;
    let single = single(entry, body);
    let decoder = IcoDecoder::new(Cursor::new(single)).map_err(|error| refuse(&error, bounds))?;
    if decoder.dimensions() != (header.stored_width, header.stored_height) {
        return Err(bounds.corrupt(&"its pictures and its directory disagree"));
    }
    Ok(Part::whole(crop(read(decoder, bounds)?, ask.region)))
}

/// An icon file of one picture.
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

/// All pixels of a decoder of the `image` crate, under its own limits too.
pub(super) fn read(mut decoder: impl ImageDecoder, bounds: &Bounds<'_>) -> Result<Raster, Refusal> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(bounds.memory);
    decoder.set_limits(limits).map_err(|error| refuse(&error, bounds))?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > bounds.pixels {
        return Err(too_large(format!("the image is {width}x{height}")));
    }
    let color = decoder.color_type();
    bounds.room(decoder.total_bytes())?;
    let mut data = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut data).map_err(|error| refuse(&error, bounds))?;
    let layout = match color {
        ColorType::L8 => Layout::Gray,
        ColorType::Rgb8 => Layout::Rgb,
        ColorType::Rgba8 => Layout::Rgba,
        _ => return Err(bounds.lacks("an unusual pixel layout")),
    };
    Ok(Raster { width, height, layout, data })
}

fn refuse(error: &ImageError, bounds: &Bounds<'_>) -> Refusal {
    match error {
        ImageError::IoError(_) => bounds.cut(),
        ImageError::Limits(_) => too_large("decoding needs more memory than allowed".to_owned()),
        ImageError::Unsupported(_) => bounds.lacks("an unusual variant"),
        error => bounds.corrupt(error),
    }
}
