//! TIFF headers: the first directory, and the number of directories.

use std::collections::BTreeSet;

use super::types::{Color, Format, Frames, Header, Profile};

/// Largest number of directories that are counted.
const MAX_DIRECTORIES: u32 = 20_000;

/// Reads numbers in the file's own byte order.
struct Reader<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Reader<'_> {
    fn two(&self, at: usize) -> Option<u16> {
        let pair: [u8; 2] = self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    }

    fn four(&self, at: usize) -> Option<u32> {
        let quad: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(quad) } else { u32::from_le_bytes(quad) })
    }

    fn eight(&self, at: usize) -> Option<u64> {
        let (first, second) = (self.four(at)?.into(), self.four(at.checked_add(4)?)?.into());
        let (high, low): (u64, u64) = if self.big { (first, second) } else { (second, first) };
        Some(high << 32 | low)
    }
}

/// Width of the file's offsets; `BigTIFF` doubles it.
#[derive(Clone, Copy)]
enum OffsetWidth {
    Four,
    Eight,
}

/// Reads the file header: byte order, offset width, and the offset of the first directory.
fn start(bytes: &[u8]) -> Option<(Reader<'_>, OffsetWidth, u64)> {
    let reader = Reader { bytes, big: bytes.starts_with(b"MM") };
    let (wide, first) = match reader.two(2)? {
        42 => (OffsetWidth::Four, u64::from(reader.four(4)?)),
        43 => (OffsetWidth::Eight, reader.eight(8)?),
        _ => return None,
    };
    Some((reader, wide, first))
}

/// The header of a later page.
pub(crate) fn page(bytes: &[u8], number: u32) -> Option<Header> {
    let (reader, wide, mut at) = start(bytes)?;
    for _ in 0..number.min(MAX_DIRECTORIES) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    directory(&reader, wide, at).map(|(header, _)| header)
}

/// The offset of a page's photometric interpretation: two bytes in the file's byte order.
pub(crate) fn photometric(bytes: &[u8], number: u32) -> Option<usize> {
    let (reader, wide, mut at) = start(bytes)?;
    for _ in 0..number.min(MAX_DIRECTORIES) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    let (start, count, step, _) = shape(&reader, wide, at)?;
    let entry = (0..count.min(1024))
        .map(|n| start + n * step)
        .find(|&entry| reader.two(entry) == Some(262) && reader.two(entry + 2) == Some(3))?;
    let value = entry + if step == 12 { 8 } else { 12 };
    (value + 2 <= bytes.len()).then_some(value)
}

/// The largest number of values of any entry that a decoder reads, in the first page and in page
/// `number`. Returns `None` if there is no such page, or if values lie outside the file.
pub(crate) fn most_values(bytes: &[u8], number: u32) -> Option<u64> {
    let (reader, wide, mut at) = start(bytes)?;
    let mut most = in_directory(&reader, wide, at)?;
    for _ in 0..number.min(MAX_DIRECTORIES) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    if number > 0 {
        most = most.max(in_directory(&reader, wide, at)?);
    }
    Some(most)
}

/// Tags that the decoder reads: sizes, layouts, strips, tiles, colors, tables, the profile.
const READ: [u16; 23] = [
    256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 338, 339,
    347, 530, 532, 34675,
];

/// The largest number of values of an entry of one directory.
fn in_directory(reader: &Reader<'_>, wide: OffsetWidth, at: u64) -> Option<u64> {
    let (start, count, step, _) = shape(reader, wide, at)?;
    let mut most = 0;
    for entry in (0..count).map(|n| start + n * step) {
        if !READ.contains(&reader.two(entry)?) {
            continue;
        }
        let size = match reader.two(entry + 2)? {
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16..=18 => 8,
            _ => 1,
        };
        let (count, room, offset) = match wide {
            OffsetWidth::Four => {
                (reader.four(entry + 4)?.into(), 4, u64::from(reader.four(entry + 8)?))
            }
            OffsetWidth::Eight => (reader.eight(entry + 4)?, 8, reader.eight(entry + 12)?),
        };
        let length: u64 = count.checked_mul(size)?;
        if length > room && offset.checked_add(length)? > reader.bytes.len() as u64 {
            return None;
        }
        most = most.max(count);
    }
    Some(most)
}

/// Reads the header.
pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let (reader, wide, first) = start(bytes)?;
    let (header, mut next) = directory(&reader, wide, first)?;
    let mut seen = BTreeSet::from([first]);
    let mut frames = 1;
    // A directory that was seen before ends the count: the chain may be a ring.
    while next != 0 && frames < MAX_DIRECTORIES && seen.insert(next) {
        let Some(after) = following(&reader, wide, next) else { break };
        frames += 1;
        next = after;
    }
    let frames = if next == 0 { Frames::Known(frames) } else { Frames::AtLeast(frames) };
    Some(Header { frames, ..header })
}

/// Layout of a directory: start of the entries, their number, the size of each, and the offset of
/// the link to the next directory.
fn shape(reader: &Reader<'_>, wide: OffsetWidth, at: u64) -> Option<(usize, usize, usize, usize)> {
    let at = usize::try_from(at).ok()?;
    match wide {
        OffsetWidth::Four => {
            let count = usize::from(reader.two(at)?);
            Some((at + 2, count, 12, at.checked_add(2 + count * 12)?))
        }
        OffsetWidth::Eight => {
            let count = usize::try_from(reader.eight(at)?).ok().filter(|&count| count <= 4096)?;
            Some((at + 8, count, 20, at.checked_add(8 + count * 20)?))
        }
    }
}

/// The offset of the next directory.
fn following(reader: &Reader<'_>, wide: OffsetWidth, at: u64) -> Option<u64> {
    let (.., end) = shape(reader, wide, at)?;
    match wide {
        OffsetWidth::Four => reader.four(end).map(u64::from),
        OffsetWidth::Eight => reader.eight(end),
    }
}

/// Reads a directory: its header and the offset of the next one.
fn directory(reader: &Reader<'_>, wide: OffsetWidth, at: u64) -> Option<(Header, u64)> {
    let (start, count, step, _) = shape(reader, wide, at)?;
    let mut header = Header::plain(Format::Tiff, 0, 0);
    header.bits = 1;
    header.color = Color::Unknown;
    let mut orientation = 1;
    for entry in (0..count.min(1024)).map(|n| start + n * step) {
        let Some(value) = value(reader, wide, entry) else { continue };
        match reader.two(entry)? {
            256 => header.stored_width = value,
            257 => header.stored_height = value,
            258 => header.bits = u8::try_from(value).unwrap_or(8),
            262 => {
                header.color = match value {
                    0 | 1 => Color::Gray,
                    2 | 6 | 8 => Color::Rgb,
                    3 => Color::Palette,
                    5 => Color::Cmyk,
                    _ => Color::Unknown,
                }
            }
            274 => orientation = u8::try_from(value).unwrap_or(1),
            338 => header.alpha = matches!(value, 1 | 2),
            34675 => header.profile = Some(Profile::Icc),
            _ => {}
        }
    }
    Some((header.oriented(orientation), following(reader, wide, at).unwrap_or(0)))
}

/// The first value of an entry with an integer type.
fn value(reader: &Reader<'_>, wide: OffsetWidth, entry: usize) -> Option<u32> {
    let kind = reader.two(entry + 2)?;
    let (count, inline, room) = match wide {
        OffsetWidth::Four => (u64::from(reader.four(entry + 4)?), entry + 8, 4),
        OffsetWidth::Eight => (reader.eight(entry + 4)?, entry + 12, 8),
    };
    let size: u64 = match kind {
        1 | 6 | 7 => 1,
        3 => 2,
        4 | 13 => 4,
        16 => 8,
        _ => return None,
    };
    let at = if count.checked_mul(size)? <= room {
        inline
    } else {
        match wide {
            OffsetWidth::Four => reader.four(inline)? as usize,
            OffsetWidth::Eight => usize::try_from(reader.eight(inline)?).ok()?,
        }
    };
    match size {
        1 => reader.bytes.get(at).map(|&byte| byte.into()),
        2 => reader.two(at).map(u32::from),
        4 => reader.four(at),
        _ => reader.eight(at).and_then(|value| value.try_into().ok()),
    }
}
