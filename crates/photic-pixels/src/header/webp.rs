//! WebP headers.

use super::bytes::{MAX_PROBE_BYTES, le16, le24, le32, u8_at};
use super::exif;
use super::types::{Format, Frames, Header, Profile};

/// Largest number of chunks that are read.
const MAX_CHUNKS: usize = 20_000;

/// Reads the header.
pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    match bytes.get(12..16)? {
        b"VP8 " => lossy(bytes.get(20..)?),
        b"VP8L" => lossless(bytes.get(20..)?),
        b"VP8X" => extended(bytes),
        _ => None,
    }
}

/// Reads the header of a lossy file.
fn lossy(body: &[u8]) -> Option<Header> {
    (body.get(3..6)? == [0x9d, 0x01, 0x2a]).then_some(())?;
    let (width, height) = (le16(body, 6)? & 0x3fff, le16(body, 8)? & 0x3fff);
    Some(Header::plain(Format::Webp, width.into(), height.into()))
}

/// Reads the header of a lossless file.
fn lossless(body: &[u8]) -> Option<Header> {
    (u8_at(body, 0)? == 0x2f).then_some(())?;
    let packed = le32(body, 1)?;
    let mut header =
        Header::plain(Format::Webp, (packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1);
    header.alpha = packed >> 28 & 1 == 1;
    Some(header)
}

/// Reads the header of a file in the extended format.
fn extended(bytes: &[u8]) -> Option<Header> {
    let flags = u8_at(bytes, 20)?;
    let mut header = Header::plain(Format::Webp, le24(bytes, 24)? + 1, le24(bytes, 27)? + 1);
    header.alpha = flags & 0x10 != 0;
    header.profile = (flags & 0x20 != 0).then_some(Profile::Icc);
    let (animated, with_exif) = (flags & 0x02 != 0, flags & 0x08 != 0);
    let (mut frames, mut orientation, mut read) = (0, 1, 0);
    let mut at = 12_usize;
    let mut whole = false;
    for _ in 0..MAX_CHUNKS {
        let (Some(kind), Some(length)) = (bytes.get(at..at + 4), le32(bytes, at + 4)) else {
            whole = at >= bytes.len();
            break;
        };
        let length = length as usize;
        match kind {
            b"ANMF" => frames += 1,
            b"EXIF" if with_exif && length + read <= MAX_PROBE_BYTES => {
                read += length;
                if let Some(body) = bytes.get(at + 8..at + 8 + length) {
                    orientation = exif::orientation(body);
                }
            }
            _ => {}
        }
        at = at.checked_add(8 + length + (length & 1))?;
    }
    if animated {
        header.frames =
            if whole { Frames::Known(frames.max(1)) } else { Frames::AtLeast(frames.max(1)) };
    }
    Some(header.oriented(orientation))
}
