//! JPEG XL headers: the bit-packed size and metadata at the start of the codestream.

use super::bytes::{be32, head};
use super::types::{Color, Format, Frames, Header, Profile};

/// Reads bits from low to high.
struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    /// The next `count` bits.
    fn take(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for n in 0..count {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << n;
            self.at += 1;
        }
        Some(value)
    }

    /// A number in one of four encodings, each an offset and a number of bits.
    fn choice(&mut self, encodings: [(u32, u32); 4]) -> Option<u32> {
        let (offset, bits) = encodings[self.take(2)? as usize];
        self.take(bits)?.checked_add(offset)
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.take(1)? == 1)
    }
}

/// Reads the header.
pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let stream = codestream(head(bytes))?;
    let mut bits = BitReader { bytes: stream.get(2..)?, at: 0 };
    let (width, height) = size(&mut bits)?;
    let mut header = Header::plain(Format::Jxl, width, height);
    header.frames = Frames::Unknown;
    header.profile = Some(Profile::Srgb);
    let mut orientation = 1;
    if !bits.flag()? {
        // Metadata is useful, but not required.
        orientation = metadata(&mut bits, &mut header).unwrap_or(1);
    }
    Some(header.oriented(orientation))
}

/// The bare codestream, or its first part in a container.
fn codestream(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.starts_with(b"\xff\x0a") {
        return Some(bytes);
    }
    let mut at = 0_usize;
    for _ in 0..4096 {
        let size = be32(bytes, at)? as usize;
        match bytes.get(at + 4..at + 8)? {
            b"jxlc" => return bytes.get(at + 8..),
            b"jxlp" => return bytes.get(at + 12..),
            _ if size >= 8 => at = at.checked_add(size)?,
            _ => return None,
        }
    }
    None
}

/// Reads width and height.
fn size(bits: &mut BitReader<'_>) -> Option<(u32, u32)> {
    const WAYS: [(u32, u32); 4] = [(1, 9), (1, 13), (1, 18), (1, 30)];
    let small = bits.flag()?;
    let height = if small { (bits.take(5)? + 1) * 8 } else { bits.choice(WAYS)? };
    let ratio = bits.take(3)?;
    let tall = u64::from(height);
    let width = match ratio {
        0 if small => (bits.take(5)? + 1) * 8,
        0 => bits.choice(WAYS)?,
        1 => height,
        2 => u32::try_from(tall * 12 / 10).ok()?,
        3 => u32::try_from(tall * 4 / 3).ok()?,
        4 => u32::try_from(tall * 3 / 2).ok()?,
        5 => u32::try_from(tall * 16 / 9).ok()?,
        6 => u32::try_from(tall * 5 / 4).ok()?,
        _ => height.checked_mul(2)?,
    };
    Some((width, height))
}

/// Reads the metadata and returns the orientation.
fn metadata(bits: &mut BitReader<'_>, header: &mut Header) -> Option<u8> {
    let mut orientation = 1;
    if bits.flag()? {
        orientation = bits.take(3)? as u8 + 1;
        if bits.flag()? {
            size(bits)?;
        }
        if bits.flag()? {
            // A preview's size is coded like the picture's; it is not read.
            return Some(orientation);
        }
        if bits.flag()? {
            header.frames = Frames::AtLeast(2);
            return Some(orientation);
        }
    }
    header.bits = if bits.flag()? {
        bits.choice([(32, 0), (16, 0), (24, 0), (1, 6)])? as u8
    } else {
        bits.choice([(8, 0), (10, 0), (12, 0), (1, 6)])? as u8
    };
    bits.flag()?;
    let extra = bits.choice([(0, 0), (1, 0), (2, 4), (1, 12)])?;
    // The first extra channel with every default is alpha.
    header.alpha = extra > 0 && bits.flag()?;
    header.color = Color::Unknown;
    header.profile = None;
    Some(orientation)
}
