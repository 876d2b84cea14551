//! WebP by `image-webp`.

use std::borrow::Cow;
use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};

use super::animation::{Go, Visit};
use super::bounds::{Bounds, too_large};
use super::color::{self, Applied, Found};
use super::sink::crop;
use super::{Ask, Note, Part};
use crate::header::{Header, Profile};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

const ICC_MOST: usize = 4 << 20;

pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    // The output, the decoder's planes or packed pixels, an alpha plane, and a turned copy.
    bounds.room(header.pixels() * if header.turned() { 12 } else { 8 } + (2 << 20))?;
    let mut decoder = open(bytes, header, bounds)?;
    let mut raster = canvas(&decoder, bounds)?;
    decoder.read_image(&mut raster.data).map_err(|error| refuse(&error, bounds))?;
    let applied = color::by_icc(&mut raster, icc(&mut decoder, header));
    let mut part = Part::whole(crop(raster, ask.region));
    if applied == Applied::No {
        part.notes.push(Note::ProfileIgnored);
    }
    Ok(part)
}

/// Every frame, put together.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Refusal> {
    bounds.room(header.pixels() * 16 + (2 << 20))?;
    let mut decoder = open(bytes, header, bounds)?;
    if !decoder.is_animated() {
        let mut raster = canvas(&decoder, bounds)?;
        decoder.read_image(&mut raster.data).map_err(|error| refuse(&error, bounds))?;
        return visit(0, &raster).map(|_| ());
    }
    let mut raster = canvas(&decoder, bounds)?;
    for number in 0..decoder.num_frames().min(bounds.frames) {
        bounds.on_time()?;
        decoder.read_frame(&mut raster.data).map_err(|error| refuse(&error, bounds))?;
        if visit(number, &raster)? == Go::Stop {
            break;
        }
    }
    Ok(())
}

fn open<'a>(
    bytes: &'a [u8],
    header: &Header,
    bounds: &Bounds<'_>,
) -> Result<WebPDecoder<Cursor<&'a [u8]>>, Refusal> {
    let mut decoder =
        WebPDecoder::new(Cursor::new(bytes)).map_err(|error| refuse(&error, bounds))?;
    decoder.set_memory_limit(usize::try_from(bounds.memory).unwrap_or(usize::MAX));
    if decoder.dimensions() != (header.stored_width, header.stored_height) {
        return Err(bounds.corrupt(&"two headers disagree"));
    }
    Ok(decoder)
}

fn canvas(decoder: &WebPDecoder<Cursor<&[u8]>>, bounds: &Bounds<'_>) -> Result<Raster, Refusal> {
    let (width, height) = decoder.dimensions();
    let layout = if decoder.has_alpha() { Layout::Rgba } else { Layout::Rgb };
    let length = decoder.output_buffer_size().ok_or_else(|| bounds.cut())?;
    Ok(Raster { width, height, layout, data: vec![0; length] })
}

fn icc(decoder: &mut WebPDecoder<Cursor<&[u8]>>, header: &Header) -> Found<'static> {
    if header.profile != Some(Profile::Icc) {
        return Ok(None);
    }
    decoder.set_memory_limit(ICC_MOST);
    match decoder.icc_profile() {
        Ok(icc) => Ok(icc.map(Cow::Owned)),
        Err(_) => Err(()),
    }
}

fn refuse(error: &DecodingError, bounds: &Bounds<'_>) -> Refusal {
    match error {
        DecodingError::IoError(_) => bounds.cut(),
        DecodingError::MemoryLimitExceeded | DecodingError::ImageTooLarge => {
            too_large("decoding this WebP file needs more memory than allowed".to_owned())
        }
        DecodingError::UnsupportedFeature(feature) => bounds.lacks(feature),
        error => bounds.corrupt(error),
    }
}
