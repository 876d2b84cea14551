//! PNG and APNG headers, read chunk by chunk.

use std::borrow::Cow;

use super::bytes::{MAX_PROBE_BYTES, be32, u8_at};
use super::exif;
use super::types::{Color, Format, Frames, Header, Profile};

/// Longest ICC profile that is inflated: the largest in use are under 3 MiB.
const MAX_ICC_BYTES: usize = 4 << 20;

/// Largest number of chunks that are read before the pixels.
const MAX_CHUNKS: usize = 20_000;

/// An iterator over the chunks of a PNG, as type and body. The body is cut where the file ends.
pub(crate) struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
}

impl<'a> Chunks<'a> {
    /// Starts after the signature.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 8, left: MAX_CHUNKS }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let length = be32(self.bytes, self.at)? as usize;
        let kind = self.bytes.get(self.at + 4..self.at + 8)?;
        let start = self.at + 8;
        let end = start.checked_add(length)?;
        let body = &self.bytes[start..end.min(self.bytes.len())];
        self.at = end.checked_add(4)?;
        Some((kind, body))
    }
}

/// Reads the header.
pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let mut header = None;
    let mut orientation = 1;
    let mut read = 0;
    for (kind, body) in Chunks::new(bytes) {
        if header.is_none() && kind != b"IHDR" && kind != b"CgBI" {
            return None;
        }
        read += 12;
        match kind {
            b"IHDR" => header = Some(start(body)?),
            b"eXIf" if body.len() + read <= MAX_PROBE_BYTES => {
                read += body.len();
                orientation = exif::orientation(body);
            }
            b"IDAT" | b"IEND" => break,
            _ => {
                if let Some(header) = header.as_mut() {
                    note(header, kind, body);
                }
            }
        }
        if read > MAX_PROBE_BYTES {
            break;
        }
    }
    header.map(|header| header.oriented(orientation))
}

/// Reads the `IHDR` chunk.
fn start(body: &[u8]) -> Option<Header> {
    let mut header = Header::plain(Format::Png, be32(body, 0)?, be32(body, 4)?);
    header.bits = u8_at(body, 8)?;
    (header.color, header.alpha) = match u8_at(body, 9)? {
        0 => (Color::Gray, false),
        2 => (Color::Rgb, false),
        3 => (Color::Palette, false),
        4 => (Color::Gray, true),
        6 => (Color::Rgb, true),
        _ => return None,
    };
    header.passes = u8_at(body, 12)? == 1;
    let sizes = header.stored_width <= 1 << 31 && header.stored_height <= 1 << 31;
    (sizes && matches!(header.bits, 1 | 2 | 4 | 8 | 16)).then_some(header)
}

/// Adds the facts of one chunk to the header.
fn note(header: &mut Header, kind: &[u8], body: &[u8]) {
    match kind {
        b"tRNS" => header.alpha = true,
        b"acTL" => header.frames = Frames::Known(be32(body, 0).unwrap_or(1).max(1)),
        b"sRGB" => header.profile = header.profile.or(Some(Profile::Srgb)),
        b"iCCP" => header.profile = Some(Profile::Icc),
        b"cICP" => {
            header.profile = Some(match body {
                [1, 13, ..] => Profile::Srgb,
                [12, 13, ..] => Profile::DisplayP3,
                _ => Profile::Coded,
            });
        }
        _ => {}
    }
}

/// The ICC profile, inflated up to a limit. `Err` means that there is one that cannot be used.
pub(crate) fn icc(bytes: &[u8]) -> Result<Option<Cow<'_, [u8]>>, ()> {
    let chunk = Chunks::new(bytes)
        .take_while(|(kind, _)| *kind != b"IDAT")
        .find(|(kind, _)| *kind == b"iCCP");
    let Some((_, body)) = chunk else { return Ok(None) };
    let name = body.iter().take(80).position(|&byte| byte == 0).ok_or(())?;
    let Some([0, packed @ ..]) = body.get(name + 1..) else { return Err(()) };
    fdeflate::decompress_to_vec_bounded(packed, MAX_ICC_BYTES)
        .map(|icc| Some(Cow::Owned(icc)))
        .map_err(|_| ())
}
