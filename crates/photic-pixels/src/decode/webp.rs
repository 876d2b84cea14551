//! WebP by `image-webp`.

use std::borrow::Cow;
use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};
use memchr::memmem;

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
    check_frames(bytes, header, bounds)?;
    Ok(decoder)
}

/// A lossy frame is decoded in the size it says itself, before that is compared with the size its
/// container says: none may be larger than the picture.
fn check_frames(bytes: &[u8], header: &Header, bounds: &Bounds<'_>) -> Result<(), Refusal> {
    let lossy = memmem::find_iter(bytes, b"VP8 ").map(|chunk| chunk + CHUNK_HEADER);
    // Behind an alpha plane the decoder reads a frame, whatever the chunk is called.
    let behind_alpha = memmem::find_iter(bytes, b"ANMF").filter_map(|at| behind_alpha(bytes, at));
    let sizes = lossy.chain(behind_alpha).filter_map(|start| frame_size(bytes.get(start..)?));
    for (width, height) in sizes {
        if width > header.stored_width || height > header.stored_height {
            return Err(bounds.corrupt(&"a frame is larger than its picture"));
        }
    }
    Ok(())
}

/// The name of a chunk and its length.
const CHUNK_HEADER: usize = 8;
/// The place, size and time of a frame, before its chunks.
const FRAME_HEADER: usize = 16;

/// The frame behind an alpha plane of an animation's frame.
fn behind_alpha(bytes: &[u8], frame: usize) -> Option<usize> {
    let alpha = bytes.get(frame + CHUNK_HEADER + FRAME_HEADER..)?;
    let length = alpha.strip_prefix(b"ALPH")?.first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_next_multiple_of(2)?;
    (frame + 2 * CHUNK_HEADER + FRAME_HEADER + CHUNK_HEADER).checked_add(length)
}

/// The size that a key frame of VP8 says.
fn frame_size(frame: &[u8]) -> Option<(u32, u32)> {
    let [_, _, _, 0x9d, 0x01, 0x2a, sizes @ ..] = frame else { return None };
    let [w0, w1, h0, h1] = *sizes.first_chunk::<4>()?;
    let edge = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((edge(w0, w1), edge(h0, h1)))
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

#[cfg(test)]
mod tests {
    use crate::decode::Wanted;
    use crate::header;

    /// An animation of 24 by 24 pixels whose only frame says that it is larger.
    fn animation(before_frame: &[u8], name: &[u8]) -> Vec<u8> {
        let mut frame = b"\xf0\x04\0\x9d\x01\x2a\xff\x3f\xff\x3f".to_vec();
        frame.resize(64, 0);
        let chunk =
            |name: &[u8], data: &[u8]| [name, &(data.len() as u32).to_le_bytes(), data].concat();
        let place = b"\0\0\0\0\0\0\x17\0\0\x17\0\0\0\0\0\x02";
        let frame = [place, before_frame, &chunk(name, &frame)].concat();
        let chunks = [
            chunk(b"VP8X", b"\x02\0\0\0\x17\0\0\x17\0\0"),
            chunk(b"ANIM", &[0; 6]),
            chunk(b"ANMF", &frame),
        ];
        chunk(b"RIFF", &[b"WEBP".as_slice(), &chunks.concat()].concat())
    }

    #[test]
    fn a_frame_larger_than_its_picture_is_refused_before_it_is_decoded() {
        let alpha = b"ALPH\x04\0\0\0\0\0\0\0";
        for file in [animation(b"", b"VP8 "), animation(alpha, b"VP8 "), animation(alpha, b"what")]
        {
            let header = header::probe(&file).unwrap();
            let refused =
                crate::decode::decode(&file, &header, &crate::Limits::default(), Wanted::default());
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("a frame is larger than its picture"), "{said}");
        }
    }
}
