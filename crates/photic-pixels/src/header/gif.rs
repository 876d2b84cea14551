//! GIF headers: the canvas size, and the number of frames in the part that is read.

use super::bytes::{MAX_PROBE_BYTES, head, le16, u8_at};
use super::types::{Color, Format, Frames, Header};

/// Reads the header.
pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let mut header = Header::plain(Format::Gif, le16(bytes, 6)?.into(), le16(bytes, 8)?.into());
    header.color = Color::Palette;
    let walk = walk(head(bytes));
    header.alpha = walk.clear;
    header.passes = walk.interlaced;
    let whole = walk.ended || bytes.len() <= MAX_PROBE_BYTES;
    header.frames = match walk.frames {
        n if whole => Frames::Known(n.max(1)),
        n => Frames::AtLeast(n.max(1)),
    };
    // Some writers leave the canvas size at zero and mean that of the first frame.
    if header.stored_width == 0 || header.stored_height == 0 {
        let (width, height) = walk.first?;
        (header.stored_width, header.stored_height) = (width, height);
        (header.width, header.height) = (width, height);
    }
    Some(header)
}

/// Counts frames over the whole file.
pub(crate) fn count(bytes: &[u8]) -> u32 {
    walk(bytes).frames
}

/// Facts gathered from the blocks of a GIF file.
#[derive(Default)]
struct GifBlocks {
    frames: u32,
    clear: bool,
    interlaced: bool,
    ended: bool,
    first: Option<(u32, u32)>,
}

/// Reads the blocks until the file ends or stops making sense.
fn walk(bytes: &[u8]) -> GifBlocks {
    let mut walk = GifBlocks::default();
    let _ = blocks(bytes, &mut walk);
    walk
}

/// Goes through the blocks; `None` if the file ends early.
fn blocks(bytes: &[u8], walk: &mut GifBlocks) -> Option<()> {
    let mut at = 13 + palette(u8_at(bytes, 10)?);
    loop {
        match u8_at(bytes, at)? {
            0x21 => {
                if u8_at(bytes, at + 1)? == 0xf9 && u8_at(bytes, at + 3)? & 1 == 1 {
                    walk.clear = true;
                }
                at = skip(bytes, at + 2)?;
            }
            0x2c => {
                let flags = u8_at(bytes, at + 9)?;
                walk.frames += 1;
                if walk.first.is_none() {
                    walk.first = Some((le16(bytes, at + 5)?.into(), le16(bytes, at + 7)?.into()));
                    walk.interlaced = flags & 0x40 != 0;
                }
                at = skip(bytes, at + 10 + palette(flags) + 1)?;
            }
            _ => {
                walk.ended = true;
                return Some(());
            }
        }
    }
}

/// Bytes of a color table.
const fn palette(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The offset after a chain of sub-blocks.
fn skip(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(u8_at(bytes, at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}
