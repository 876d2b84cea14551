//! WebP, decoded by `image-webp`.

use std::borrow::Cow;
use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};
use memchr::memmem;

use super::budget::{DecodeBudget, too_large};
use super::canvas::OnFrame;
use super::color::{self, IccProfile, ProfileApplied};
use super::part::{DecodedPart, Note, PartRequest};
use super::row_sink::crop;
use crate::header::{Header, Profile};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Longest ICC profile that is read.
const MAX_ICC_BYTES: usize = 4 << 20;

/// Decodes a WebP file, or the first frame of an animated one.
pub(super) fn decode(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    // The output, the decoder's planes or packed pixels, an alpha plane, and a turned copy.
    budget.room(header.pixels() * if header.turned() { 12 } else { 8 } + (2 << 20))?;
    let mut decoder = open(bytes, header, budget)?;
    let mut raster = canvas(&decoder, budget)?;
    decoder.read_image(&mut raster.data).map_err(|error| refuse(&error, budget))?;
    let applied = color::by_icc(&mut raster, icc(&mut decoder, header));
    let mut part = DecodedPart::whole(crop(raster, ask.region));
    if applied == ProfileApplied::No {
        part.notes.push(Note::ProfileIgnored);
    }
    Ok(part)
}

/// Decodes the frames in order and hands each one to `on_frame`.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    on_frame: &mut OnFrame<'_>,
) -> Result<(), Refusal> {
    budget.room(header.pixels() * 16 + (2 << 20))?;
    let mut decoder = open(bytes, header, budget)?;
    if !decoder.is_animated() {
        let mut raster = canvas(&decoder, budget)?;
        decoder.read_image(&mut raster.data).map_err(|error| refuse(&error, budget))?;
        return on_frame(0, &raster).map(|_| ());
    }
    let mut raster = canvas(&decoder, budget)?;
    for number in 0..decoder.num_frames().min(budget.frames) {
        budget.on_time()?;
        decoder.read_frame(&mut raster.data).map_err(|error| refuse(&error, budget))?;
        if on_frame(number, &raster)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Opens a decoder and checks the sizes of all frames.
fn open<'a>(
    bytes: &'a [u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
) -> Result<WebPDecoder<Cursor<&'a [u8]>>, Refusal> {
    let mut decoder =
        WebPDecoder::new(Cursor::new(bytes)).map_err(|error| refuse(&error, budget))?;
    decoder.set_memory_limit(usize::try_from(budget.memory).unwrap_or(usize::MAX));
    if decoder.dimensions() != (header.stored_width, header.stored_height) {
        return Err(budget.corrupt(&"two headers disagree"));
    }
    check_frames(bytes, header, budget)?;
    Ok(decoder)
}

/// Refuses a file with a lossy frame that is larger than the picture.
///
/// The decoder allocates a frame by the size in its own header, and only then compares that with
/// the size that the container states.
fn check_frames(bytes: &[u8], header: &Header, budget: &DecodeBudget<'_>) -> Result<(), Refusal> {
    let lossy = memmem::find_iter(bytes, b"VP8 ").map(|chunk| chunk + CHUNK_HEADER);
    // The decoder takes the chunk after an alpha chunk for a frame, whatever its name is.
    let after_alpha = memmem::find_iter(bytes, b"ANMF").filter_map(|at| after_alpha(bytes, at));
    let sizes = lossy.chain(after_alpha).filter_map(|start| frame_size(bytes.get(start..)?));
    for (width, height) in sizes {
        if width > header.stored_width || height > header.stored_height {
            return Err(budget.corrupt(&"a frame is larger than its picture"));
        }
    }
    Ok(())
}

/// Bytes of a chunk's header: its name and its length.
const CHUNK_HEADER: usize = 8;
/// Bytes of an `ANMF` chunk before its inner chunks: position, size and duration of the frame.
const FRAME_HEADER: usize = 16;

/// Returns where the data of the chunk begins that follows the alpha chunk of the `ANMF` chunk at
/// `frame`.
fn after_alpha(bytes: &[u8], frame: usize) -> Option<usize> {
    let alpha = bytes.get(frame + CHUNK_HEADER + FRAME_HEADER..)?;
    let length = alpha.strip_prefix(b"ALPH")?.first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_next_multiple_of(2)?;
    // The headers of `ANMF`, of the alpha chunk, and of the chunk after it.
    (frame + 3 * CHUNK_HEADER + FRAME_HEADER).checked_add(length)
}

/// Reads width and height from the header of a VP8 key frame.
fn frame_size(frame: &[u8]) -> Option<(u32, u32)> {
    let [_, _, _, 0x9d, 0x01, 0x2a, sizes @ ..] = frame else { return None };
    let [w0, w1, h0, h1] = *sizes.first_chunk::<4>()?;
    let edge = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((edge(w0, w1), edge(h0, h1)))
}

/// An empty raster of the decoder's output size.
fn canvas(
    decoder: &WebPDecoder<Cursor<&[u8]>>,
    budget: &DecodeBudget<'_>,
) -> Result<Raster, Refusal> {
    let (width, height) = decoder.dimensions();
    let layout = if decoder.has_alpha() { Layout::Rgba } else { Layout::Rgb };
    let length = decoder.output_buffer_size().ok_or_else(|| budget.cut())?;
    Ok(Raster { width, height, layout, data: vec![0; length] })
}

/// Reads the ICC profile.
fn icc(decoder: &mut WebPDecoder<Cursor<&[u8]>>, header: &Header) -> IccProfile<'static> {
    if header.profile != Some(Profile::Icc) {
        return Ok(None);
    }
    decoder.set_memory_limit(MAX_ICC_BYTES);
    match decoder.icc_profile() {
        Ok(icc) => Ok(icc.map(Cow::Owned)),
        Err(_) => Err(()),
    }
}

/// Turns a decoder's error into a refusal.
fn refuse(error: &DecodingError, budget: &DecodeBudget<'_>) -> Refusal {
    match error {
        DecodingError::IoError(_) => budget.cut(),
        DecodingError::MemoryLimitExceeded | DecodingError::ImageTooLarge => {
            too_large("decoding this WebP file needs more memory than allowed".to_owned())
        }
        DecodingError::UnsupportedFeature(feature) => budget.lacks(feature),
        error => budget.corrupt(error),
    }
}

#[cfg(test)]
mod tests {
    use crate::decode::DecodeOptions;
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
            let refused = crate::decode::decode(
                &file,
                &header,
                &crate::DecodeLimits::default(),
                DecodeOptions::default(),
            );
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("a frame is larger than its picture"), "{said}");
        }
    }
}
