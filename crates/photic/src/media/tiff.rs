//! The end of a TIFF: the furthest byte that any of its directories refers to.

use super::bytes::Bytes;

/// Maximum number of directories and entries that are followed. A file with more counts as cut.
const MOST_ENTRIES: usize = 4096;
/// Maximum number of strips and tiles that are followed.
const MOST_STRIPS: usize = 1 << 16;

const STRIP_OFFSETS: u16 = 273;
const STRIP_LENGTHS: u16 = 279;
const TILE_OFFSETS: u16 = 324;
const TILE_LENGTHS: u16 = 325;

/// Reads numbers of a file, in its own byte order.
struct Reader<'b, 'p> {
    bytes: &'b Bytes<'p>,
    half: fn([u8; 2]) -> u16,
    word: fn([u8; 4]) -> u32,
}

/// One field of a directory.
#[derive(Clone, Copy)]
struct Entry {
    tag: u16,
    /// Bytes of one value.
    size: usize,
    count: u32,
    /// Offset of the values.
    at: usize,
}

/// Finds the end of the file. Returns `None` if something lies outside of it or is not understood.
pub(super) fn end(
    bytes: &Bytes<'_>,
    half: fn([u8; 2]) -> u16,
    word: fn([u8; 4]) -> u32,
) -> Option<usize> {
    let reader = Reader { bytes, half, word };
    let mut directory = reader.word(4)?;
    let mut end = 8;
    let mut has_pixels = false;
    let (mut entries, mut strips) = (0, 0);
    while directory != 0 {
        let count = usize::from(reader.half(directory)?);
        entries += count.max(1);
        if entries > MOST_ENTRIES {
            return None;
        }
        let (mut offsets, mut lengths) = (None, None);
        for index in 0..count {
            let entry = reader.entry(directory + 2 + index * 12)?;
            end = end.max(entry.at.checked_add(entry.size.checked_mul(entry.count as usize)?)?);
            match entry.tag {
                STRIP_OFFSETS | TILE_OFFSETS => offsets = Some(entry),
                STRIP_LENGTHS | TILE_LENGTHS => lengths = Some(entry),
                _ => {}
            }
        }
        if let (Some(offsets), Some(lengths)) = (offsets, lengths) {
            strips += offsets.count as usize;
            if strips > MOST_STRIPS {
                return None;
            }
            end = end.max(reader.furthest(offsets, lengths)?);
            has_pixels = true;
        }
        let next = directory + 2 + count * 12;
        end = end.max(next + 4);
        directory = reader.word(next)?;
    }
    // The last word of the file may be padded.
    let end = if bytes.len == end + 1 { bytes.len } else { end };
    has_pixels.then_some(end)
}

impl Reader<'_, '_> {
    fn half(&self, at: usize) -> Option<u16> {
        self.bytes.read(at).map(self.half)
    }

    fn word(&self, at: usize) -> Option<usize> {
        self.bytes.read(at).map(|bytes| (self.word)(bytes) as usize)
    }

    fn entry(&self, at: usize) -> Option<Entry> {
        let size: usize = match self.half(at + 2)? {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 => 8,
            _ => return None,
        };
        let count = u32::try_from(self.word(at + 4)?).ok()?;
        let fits = size.checked_mul(count as usize)? <= 4;
        let values = if fits { at + 8 } else { self.word(at + 8)? };
        Some(Entry { tag: self.half(at)?, size, count, at: values })
    }

    fn value(&self, entry: Entry, index: usize) -> Option<usize> {
        match entry.size {
            2 => self.half(entry.at + index * 2).map(usize::from),
            4 => self.word(entry.at + index * 4),
            _ => None,
        }
    }

    /// Returns the end of the last strip or tile.
    fn furthest(&self, offsets: Entry, lengths: Entry) -> Option<usize> {
        if offsets.count != lengths.count {
            return None;
        }
        let mut end = 0;
        for index in 0..offsets.count as usize {
            let strip = self.value(offsets, index)?.checked_add(self.value(lengths, index)?)?;
            end = end.max(strip);
        }
        Some(end)
    }
}
