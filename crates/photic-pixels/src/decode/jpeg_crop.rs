//! Cuts a region out of a JPEG file without decoding its pixels, as `jpegtran -crop` does.
//!
//! The codec keeps planes of the whole picture, so a region of a very large file is first written as
//! a small file of its own: its blocks are copied bit by bit, and only the first coefficient of each
//! block, which is stored as a difference to the block before, is written again. The pixels are the
//! same as those of the whole picture. Sequential files with Huffman codes in one scan can be cut.

use super::budget::DecodeBudget;
use super::jpeg_bits::{BitReader, BitWriter, CodeTable, code_table};
use super::part::PartRequest;
use crate::geometry::Rect;
use crate::header::Header;
use crate::refusal::Refusal;

/// The start of a file.
const START: [u8; 2] = [0xff, 0xd8];
/// The end of a file.
const END: [u8; 2] = [0xff, 0xd9];
/// Largest number of categories of a first coefficient: differences of 11 bits.
const MAX_CATEGORY: u8 = 11;
/// Most bytes of a block: 64 codes of 16 bits with 16 bits each, and a zero after each byte of ones.
const MAX_BLOCK_BYTES: u64 = 512;
/// Bytes of the tables for reading codes.
const TABLE_BYTES: u64 = 8 * (2 << 16);
/// Most bytes of the segments that are copied: color profiles of up to 4 MiB, and tables.
const MAX_COPIED: usize = 5 << 20;

/// A small file that shows a region.
pub(super) struct CroppedJpeg {
    /// The file.
    pub(super) bytes: Vec<u8>,
    /// The header of the file.
    pub(super) header: Header,
    /// The request, relative to the file.
    pub(super) ask: PartRequest,
}

/// A component of a scan.
struct Component {
    /// Blocks of a unit, across times down.
    blocks: usize,
    across: u32,
    down: u32,
    /// Number of its table for first coefficients.
    dc: usize,
    /// Number of its table for all others.
    ac: usize,
    /// Last first coefficient that was read.
    read: i32,
    /// Last first coefficient that was written.
    written: i32,
}

/// The parts of a file that a crop needs.
struct Segments<'a> {
    /// Segments that are copied to the small file.
    copied: Vec<u8>,
    /// The frame segment, with its marker and length.
    frame: &'a [u8],
    /// The scan segment, with its marker and length.
    scan: &'a [u8],
    /// Coded blocks.
    data: &'a [u8],
    dc: [CodeTable; 4],
    ac: [CodeTable; 4],
    /// Units between two restart markers; 0 for none.
    restart: u32,
}

/// Writes a file with the units of a picture that show a region.
pub(super) fn crop(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<CroppedJpeg, Refusal> {
    // The segments are held twice: as a buffer that grows, and in the small file.
    let own = TABLE_BYTES + 3 * bytes.len().min(MAX_COPIED) as u64;
    budget.room(own)?;
    let lacks = || budget.lacks("codes that cannot be read in part");
    let segments = Segments::of(bytes).ok_or_else(lacks)?;
    let mut components = segments.components().ok_or_else(lacks)?;
    let most = |side: fn(&Component) -> u32| components.iter().map(side).max().unwrap_or(1);
    let unit = (most(|one| one.across) * 8, most(|one| one.down) * 8);
    let (width, height) = (header.stored_width, header.stored_height);
    // One unit more on each side: colors at half the size are smoothed across their neighbors.
    let span = |start: u32, end: u32, unit: u32, whole: u32| {
        (start / unit).saturating_sub(1)..(end.div_ceil(unit) + 1).min(whole.div_ceil(unit))
    };
    let region = ask.region;
    let columns = span(region.x, region.right(), unit.0, width);
    let rows = span(region.y, region.bottom(), unit.1, height);

    let blocks: usize = components.iter().map(|one| one.blocks).sum();
    let row_bytes = columns.len() as u64 * blocks as u64 * MAX_BLOCK_BYTES;
    let mut reader = BitReader::new(segments.data);
    let mut writer = BitWriter::default();
    let mut count = 0_u32;
    for row in 0..rows.end {
        budget.on_time()?;
        if rows.contains(&row) {
            // A buffer that grows is copied to one of twice its size.
            budget.room(own + 3 * (writer.len() as u64 + row_bytes))?;
        }
        for column in 0..width.div_ceil(unit.0) {
            if segments.restart > 0 && count > 0 && count.is_multiple_of(segments.restart) {
                reader.restart().ok_or_else(|| budget.cut())?;
                for component in &mut components {
                    component.read = 0;
                }
            }
            count = count.wrapping_add(1);
            let is_kept = rows.contains(&row) && columns.contains(&column);
            for component in &mut components {
                let tables = (&segments.dc[component.dc], &segments.ac[component.ac]);
                for _ in 0..component.blocks {
                    let out = is_kept.then_some(&mut writer);
                    block(&mut reader, tables, component, out).ok_or_else(|| budget.cut())?;
                }
            }
        }
    }
    let size = (
        (columns.end * unit.0).min(width) - columns.start * unit.0,
        (rows.end * unit.1).min(height) - rows.start * unit.1,
    );
    let (x, y) = (region.x - columns.start * unit.0, region.y - rows.start * unit.1);
    let turned = header.turned();
    let header = Header {
        stored_width: size.0,
        stored_height: size.1,
        width: if turned { size.1 } else { size.0 },
        height: if turned { size.0 } else { size.1 },
        ..*header
    };
    let ask = PartRequest { region: Rect { x, y, ..region }, ..ask };
    Ok(CroppedJpeg { bytes: segments.file(size, &writer.finish()), header, ask })
}

/// Reads a block, and writes it if it is kept. `None` if the data ends or has no such code.
fn block(
    reader: &mut BitReader<'_>,
    (dc, ac): (&CodeTable, &CodeTable),
    component: &mut Component,
    mut out: Option<&mut BitWriter>,
) -> Option<()> {
    let (category, ..) = reader.code(dc)?;
    let bits = reader.bits(category.min(16))?;
    component.read = component.read.wrapping_add(extended(bits, category));
    if let Some(out) = out.as_deref_mut() {
        let difference = component.read.wrapping_sub(component.written);
        let category = (32 - difference.unsigned_abs().leading_zeros()) as u8;
        if category > MAX_CATEGORY {
            return None;
        }
        component.written = component.read;
        // The codes of our own table: four bits that are the category.
        out.put(u32::from(category), 4);
        let stored = if difference < 0 { difference - 1 } else { difference };
        out.put((stored as u32) & ((1 << category) - 1), category);
    }
    let mut index = 1;
    while index < 64 {
        let (value, code, length) = reader.code(ac)?;
        let (zeros, size) = (value >> 4, value & 15);
        let bits = reader.bits(size)?;
        if let Some(out) = out.as_deref_mut() {
            out.put(code, length);
            out.put(bits, size);
        }
        // Without a coefficient, only 16 zeros go on; all else ends the block.
        if size == 0 && zeros != 15 {
            break;
        }
        index += usize::from(zeros) + 1;
    }
    reader.is_sound().then_some(())
}

/// The number that some bits of a category stand for.
fn extended(bits: u32, category: u8) -> i32 {
    let bits = bits.cast_signed();
    match category {
        0 => 0,
        1..=16 if bits < 1 << (category - 1) => bits - (1 << category) + 1,
        _ => bits,
    }
}

/// The counts and values of a table of codes, as a file states them.
type StatedTable<'a> = Option<(&'a [u8], &'a [u8])>;

/// Tables of codes by number, as a file states them.
#[derive(Default)]
struct StatedTables<'a> {
    dc: [StatedTable<'a>; 4],
    ac: [StatedTable<'a>; 4],
}

impl<'a> StatedTables<'a> {
    /// Reads the tables of a segment.
    fn read(&mut self, mut body: &'a [u8]) -> Option<()> {
        while let [kind, rest @ ..] = body {
            let (counts, rest) = rest.split_at_checked(16)?;
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            let (values, rest) = rest.split_at_checked(total)?;
            let tables = if kind >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            *tables.get_mut(usize::from(kind & 15))? = Some((counts, values));
            body = rest;
        }
        Some(())
    }
}

/// Makes the tables that are stated; the others are empty.
fn made(stated: &[StatedTable<'_>; 4]) -> Option<[CodeTable; 4]> {
    let mut tables: [CodeTable; 4] = Default::default();
    for (table, stated) in tables.iter_mut().zip(stated) {
        if let Some((counts, values)) = *stated {
            *table = code_table(counts, values)?;
        }
    }
    Some(tables)
}

impl<'a> Segments<'a> {
    /// Reads the segments up to the first scan. `None` for a file that is not sound or not of the
    /// kind that can be cut.
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let mut found = Self {
            copied: Vec::new(),
            frame: &[],
            scan: &[],
            data: &[],
            dc: Default::default(),
            ac: Default::default(),
            restart: 0,
        };
        // Only the last table of each number is made: making one takes far longer than stating it.
        let mut stated = StatedTables::default();
        let mut at = START.len();
        loop {
            while bytes.get(at + 1) == Some(&0xff) {
                at += 1;
            }
            let (&mark, &marker) = (bytes.get(at)?, bytes.get(at + 1)?);
            if mark != 0xff {
                return None;
            }
            let length =
                usize::from(u16::from_be_bytes([*bytes.get(at + 2)?, *bytes.get(at + 3)?]));
            let segment = bytes.get(at..at + 2 + length)?;
            let body = segment.get(4..)?;
            at += segment.len();
            match marker {
                0xc0 | 0xc1 => found.frame = segment,
                0xc4 => {
                    stated.read(body)?;
                    found.copy(segment)?;
                }
                0xda => {
                    found.scan = segment;
                    found.data = bytes.get(at..)?;
                    (found.dc, found.ac) = (made(&stated.dc)?, made(&stated.ac)?);
                    return (!found.frame.is_empty()).then_some(found);
                }
                0xdd => found.restart = u16::from_be_bytes([*body.first()?, *body.get(1)?]).into(),
                // Tables, and what says how colors are stored.
                0xdb | 0xe0 | 0xe2 | 0xee => found.copy(segment)?,
                0xe1 | 0xe3..=0xed | 0xef | 0xfe => {}
                _ => return None,
            }
        }
    }

    /// Copies a segment to the small file. `None` if there are too many.
    fn copy(&mut self, segment: &[u8]) -> Option<()> {
        if self.copied.len() + segment.len() > MAX_COPIED {
            return None;
        }
        self.copied.extend_from_slice(segment);
        Some(())
    }

    /// The components of the scan, which has to hold all of the frame, in its order.
    fn components(&self) -> Option<Vec<Component>> {
        let (frame, scan) = (self.frame.get(4..)?, self.scan.get(4..)?);
        let count = usize::from(*frame.get(5)?);
        if frame.first() != Some(&8) || *scan.first()? != frame[5] || !(1..=4).contains(&count) {
            return None;
        }
        let component = |number: usize| {
            let stated = frame.get(6 + number * 3..9 + number * 3)?;
            let coded = scan.get(1 + number * 2..3 + number * 2)?;
            // A component alone has one block in each unit, whatever it states.
            let (across, down) = match count {
                1 => (1, 1),
                _ => (u32::from(stated[1] >> 4), u32::from(stated[1] & 15)),
            };
            let (dc, ac) = (usize::from(coded[1] >> 4), usize::from(coded[1] & 15));
            let is_sound = stated[0] == coded[0]
                && (1..=4).contains(&across)
                && (1..=4).contains(&down)
                && self.dc.get(dc).is_some_and(|table| !table.is_empty())
                && self.ac.get(ac).is_some_and(|table| !table.is_empty());
            let blocks = (across * down) as usize;
            is_sound.then_some(Component { blocks, across, down, dc, ac, read: 0, written: 0 })
        };
        (0..count).map(component).collect()
    }

    /// Writes the small file.
    fn file(&self, (width, height): (u32, u32), data: &[u8]) -> Vec<u8> {
        // 64 bytes for each table of first coefficients, and for the markers.
        let room = self.copied.len() + self.frame.len() + self.scan.len() + data.len() + 64 * 5;
        let mut out = Vec::with_capacity(room);
        out.extend_from_slice(&START);
        out.extend_from_slice(&self.copied);
        let mut frame = self.frame.to_vec();
        frame[5..7].copy_from_slice(&(height as u16).to_be_bytes());
        frame[7..9].copy_from_slice(&(width as u16).to_be_bytes());
        if frame[9] == 1 {
            frame[11] = 0x11;
        }
        out.extend_from_slice(&frame);
        let mut tables: Vec<u8> =
            self.scan[5..].chunks_exact(2).map(|coded| coded[1] >> 4).collect();
        tables.truncate(usize::from(self.scan[4]));
        tables.sort_unstable();
        tables.dedup();
        for table in tables {
            // One table: codes of four bits for the categories 0 to 11.
            out.extend_from_slice(&[0xff, 0xc4, 0, 19 + MAX_CATEGORY + 1, table]);
            out.extend_from_slice(&[0, 0, 0, MAX_CATEGORY + 1]);
            out.extend_from_slice(&[0; 12]);
            out.extend(0..=MAX_CATEGORY);
        }
        out.extend_from_slice(self.scan);
        out.extend_from_slice(data);
        out.extend_from_slice(&END);
        out
    }
}
