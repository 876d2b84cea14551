//! BMP and ICO headers.

use super::bytes::{be32, le16, le32, u8_at};
use super::types::{Color, Format, Frames, Header};

/// Reads the header of a BMP file.
pub(super) fn bmp(bytes: &[u8]) -> Option<Header> {
    dib(bytes.get(14..)?, Format::Bmp)
}

/// Reads a device-independent bitmap header, which icons contain as well.
fn dib(body: &[u8], format: Format) -> Option<Header> {
    let size = le32(body, 0)?;
    let (width, height, depth) = if size == 12 {
        (le16(body, 4)?.into(), le16(body, 6)?.into(), le16(body, 10)?)
    } else if (16..=1024).contains(&size) {
        let width = i32::from_le_bytes(le32(body, 4)?.to_le_bytes());
        let height = i32::from_le_bytes(le32(body, 8)?.to_le_bytes());
        // A negative height means rows from the top; a negative width has no meaning.
        (u32::try_from(width).ok()?, height.unsigned_abs(), le16(body, 14)?)
    } else {
        return None;
    };
    let mut header = Header::plain(format, width, height);
    header.color = if matches!(depth, 1 | 2 | 4 | 8) { Color::Palette } else { Color::Rgb };
    header.bits = if header.color == Color::Palette { depth as u8 } else { 8 };
    header.alpha = depth == 32;
    matches!(depth, 0 | 1 | 2 | 4 | 8 | 16 | 24 | 32).then_some(header)
}

/// The header of the largest picture of an icon.
pub(super) fn ico(bytes: &[u8]) -> Option<Header> {
    ico_best(bytes).map(|(header, _)| header)
}

/// The header of the largest picture of an icon and the number of its directory entry, or `None` if
/// no entry is valid. Sizes in the directory are not trusted.
pub(crate) fn ico_best(bytes: &[u8]) -> Option<(Header, usize)> {
    let count = usize::from(le16(bytes, 4)?).min(256);
    let mut best: Option<(Header, usize)> = None;
    for number in 0..count {
        let Some(offset) = le32(bytes, 6 + number * 16 + 12) else { break };
        let Some(body) = bytes.get(offset as usize..) else { continue };
        let Some(header) = ico_entry(body) else { continue };
        if best.is_none_or(|(best, _)| header.pixels() > best.pixels()) {
            best = Some((Header { alpha: true, frames: Frames::Known(1), ..header }, number));
        }
    }
    best
}

/// Reads the header of one picture of an icon.
fn ico_entry(body: &[u8]) -> Option<Header> {
    if body.starts_with(b"\x89PNG\r\n\x1a\n") {
        let mut header = Header::plain(Format::Ico, be32(body, 16)?, be32(body, 20)?);
        header.bits = u8_at(body, 24)?;
        return Some(header);
    }
    let mut header = dib(body, Format::Ico)?;
    // The stored height includes the mask.
    header.stored_height /= 2;
    header.height = header.stored_height;
    Some(header)
}
