//! TIFF headers: the first directory, and a count of the others.

use std::collections::BTreeSet;

use super::{Color, Format, Frames, Header, Profile};

const DIRECTORIES_MOST: u32 = 20_000;

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

/// How wide the file's offsets are: `BigTIFF` doubles them.
#[derive(Clone, Copy)]
enum Wide {
    Four,
    Eight,
}

fn start(bytes: &[u8]) -> Option<(Reader<'_>, Wide, u64)> {
    let reader = Reader { bytes, big: bytes.starts_with(b"MM") };
    let (wide, first) = match reader.two(2)? {
        42 => (Wide::Four, u64::from(reader.four(4)?)),
        43 => (Wide::Eight, reader.eight(8)?),
        _ => return None,
    };
    Some((reader, wide, first))
}

/// The header of a later page.
pub(crate) fn page(bytes: &[u8], number: u32) -> Option<Header> {
    let (reader, wide, mut at) = start(bytes)?;
    for _ in 0..number.min(DIRECTORIES_MOST) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    directory(&reader, wide, at).map(|(header, _)| header)
}

/// Where a page's photometric interpretation is written: two bytes in the file's order.
pub(crate) fn photometric(bytes: &[u8], number: u32) -> Option<usize> {
    let (reader, wide, mut at) = start(bytes)?;
    for _ in 0..number.min(DIRECTORIES_MOST) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    let (start, count, step, _) = shape(&reader, wide, at)?;
    let entry = (0..count.min(1024))
        .map(|n| start + n * step)
        .find(|&entry| reader.two(entry) == Some(262) && reader.two(entry + 2) == Some(3))?;
    let value = entry + if step == 12 { 8 } else { 12 };
    (value + 2 <= bytes.len()).then_some(value)
}

/// The most values that an entry of the first page or of another lists, among the entries that a
/// decoder reads. `None` if there is no such page, or the values are not all in the file.
pub(crate) fn most_values(bytes: &[u8], number: u32) -> Option<u64> {
    let (reader, wide, mut at) = start(bytes)?;
    let mut most = in_directory(&reader, wide, at)?;
    for _ in 0..number.min(DIRECTORIES_MOST) {
        at = following(&reader, wide, at).filter(|&next| next != 0)?;
    }
    if number > 0 {
        most = most.max(in_directory(&reader, wide, at)?);
    }
    Some(most)
}

/// The entries that the decoder reads: sizes, layouts, strips, tiles, colors, tables, the profile.
const READ: [u16; 23] = [
    256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 338, 339,
    347, 530, 532, 34675,
];

fn in_directory(reader: &Reader<'_>, wide: Wide, at: u64) -> Option<u64> {
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
            Wide::Four => (reader.four(entry + 4)?.into(), 4, u64::from(reader.four(entry + 8)?)),
            Wide::Eight => (reader.eight(entry + 4)?, 8, reader.eight(entry + 12)?),
        };
        let length: u64 = count.checked_mul(size)?;
        if length > room && offset.checked_add(length)? > reader.bytes.len() as u64 {
            return None;
        }
        most = most.max(count);
    }
    Some(most)
}

pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let (reader, wide, first) = start(bytes)?;
    let (header, mut next) = directory(&reader, wide, first)?;
    let mut seen = BTreeSet::from([first]);
    let mut frames = 1;
    // A directory that points back ends the walk: the chain may be a ring.
    while next != 0 && frames < DIRECTORIES_MOST && seen.insert(next) {
        let Some(after) = following(&reader, wide, next) else { break };
        frames += 1;
        next = after;
    }
    let frames = if next == 0 { Frames::Known(frames) } else { Frames::AtLeast(frames) };
    Some(Header { frames, ..header })
}

/// Where entries start, how many there are, how long each is, and where the next directory is said.
fn shape(reader: &Reader<'_>, wide: Wide, at: u64) -> Option<(usize, usize, usize, usize)> {
    let at = usize::try_from(at).ok()?;
    match wide {
        Wide::Four => {
            let count = usize::from(reader.two(at)?);
            Some((at + 2, count, 12, at.checked_add(2 + count * 12)?))
        }
        Wide::Eight => {
            let count = usize::try_from(reader.eight(at)?).ok().filter(|&count| count <= 4096)?;
            Some((at + 8, count, 20, at.checked_add(8 + count * 20)?))
        }
    }
}

fn following(reader: &Reader<'_>, wide: Wide, at: u64) -> Option<u64> {
    let (.., end) = shape(reader, wide, at)?;
    match wide {
        Wide::Four => reader.four(end).map(u64::from),
        Wide::Eight => reader.eight(end),
    }
}

fn directory(reader: &Reader<'_>, wide: Wide, at: u64) -> Option<(Header, u64)> {
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

/// The first value of an entry, of an integer type.
fn value(reader: &Reader<'_>, wide: Wide, entry: usize) -> Option<u32> {
    let kind = reader.two(entry + 2)?;
    let (count, inline, room) = match wide {
        Wide::Four => (u64::from(reader.four(entry + 4)?), entry + 8, 4),
        Wide::Eight => (reader.eight(entry + 4)?, entry + 12, 8),
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
            Wide::Four => reader.four(inline)? as usize,
            Wide::Eight => usize::try_from(reader.eight(inline)?).ok()?,
        }
    };
    match size {
        1 => reader.bytes.get(at).map(|&byte| byte.into()),
        2 => reader.two(at).map(u32::from),
        4 => reader.four(at),
        _ => reader.eight(at).and_then(|value| value.try_into().ok()),
    }
}
