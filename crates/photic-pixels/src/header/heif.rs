//! AVIF and HEIC headers: the boxes of an ISO base media file that describe the primary item.

use super::bytes::{be16, be32, head, u8_at};
use super::types::{Color, Format, Frames, Header, Profile};

/// Largest number of boxes that are read.
const MAX_BOXES: usize = 4096;

/// The boxes that lie side by side in `bytes`, as type and body.
fn boxes(bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let size = be32(bytes, at)? as usize;
        let kind: [u8; 4] = bytes.get(at + 4..at + 8)?.try_into().ok()?;
        let (start, length) = match size {
            0 => (at + 8, bytes.len() - at),
            1 => (
                at + 16,
                usize::try_from(
                    u64::from(be32(bytes, at + 8)?) << 32 | u64::from(be32(bytes, at + 12)?),
                )
                .ok()?,
            ),
            _ => (at + 8, size),
        };
        let end = at.checked_add(length)?;
        let body = bytes.get(start..end.min(bytes.len()))?;
        at = end;
        Some((kind, body))
    })
    .take(MAX_BOXES)
}

/// The body of the first box of a type.
fn find<'a>(bytes: &'a [u8], kind: &[u8]) -> Option<&'a [u8]> {
    boxes(bytes).find(|(found, _)| *found == *kind).map(|(_, body)| body)
}

/// The format that the brands of an `ftyp` box name.
pub(super) fn brand(bytes: &[u8]) -> Option<Format> {
    let body = find(head(bytes), b"ftyp")?;
    let mut family = None;
    let brands = body
        .get(..4)
        .into_iter()
        .chain(body.get(8..).into_iter().flat_map(|rest| rest.chunks_exact(4)));
    for brand in brands.take(64) {
        match brand {
            b"avif" | b"avis" => return Some(Format::Avif),
            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => {
                family = Some(Format::Heic);
            }
            _ => {}
        }
    }
    family
}

/// Reads the header.
pub(super) fn probe(bytes: &[u8], format: Format) -> Option<Header> {
    let bytes = head(bytes);
    let meta = find(bytes, b"meta")?.get(4..)?;
    let primary = find(meta, b"pitm").and_then(|body| match u8_at(body, 0)? {
        0 => be16(body, 4).map(u32::from),
        _ => be32(body, 4),
    });
    let properties = find(meta, b"iprp")?;
    let all: Vec<([u8; 4], &[u8])> = boxes(find(properties, b"ipco")?).collect();
    let used = primary.and_then(|item| associations(find(properties, b"ipma")?, item));
    let used: Vec<usize> = used.unwrap_or_else(|| (0..all.len()).collect());
    let mut header = Header::plain(format, 0, 0);
    header.color = Color::Unknown;
    header.frames = frames(bytes, meta);
    header.alpha = all
        .iter()
        .any(|(kind, body)| kind == b"auxC" && body.windows(5).any(|part| part == b"alpha"));
    let (mut turns, mut mirror) = (0, None);
    for (kind, body) in used.into_iter().filter_map(|at| all.get(at)) {
        match kind {
            b"ispe" if header.stored_width == 0 => {
                (header.stored_width, header.stored_height) = (be32(body, 4)?, be32(body, 8)?);
            }
            b"pixi" => header.bits = u8_at(body, 5).unwrap_or(8),
            b"irot" => turns = u8_at(body, 0).unwrap_or(0) & 3,
            b"imir" => mirror = u8_at(body, 0).map(|axis| axis & 1),
            b"colr" => header.profile = profile(body).or(header.profile),
            _ => {}
        }
    }
    Some(header.oriented(orientation(turns, mirror)))
}

/// Numbers (from 0) of the properties that belong to an item.
fn associations(body: &[u8], item: u32) -> Option<Vec<usize>> {
    let (version, flags) = (u8_at(body, 0)?, u8_at(body, 3)?);
    let mut at = 8;
    for _ in 0..be32(body, 4)?.min(4096) {
        let id = if version == 0 { be16(body, at)?.into() } else { be32(body, at)? };
        at += if version == 0 { 2 } else { 4 };
        let count = usize::from(u8_at(body, at)?);
        at += 1;
        let wide = flags & 1 == 1;
        let list = (0..count).map(|n| {
            let number = if wide {
                usize::from(be16(body, at + n * 2)? & 0x7fff)
            } else {
                usize::from(u8_at(body, at + n)? & 0x7f)
            };
            number.checked_sub(1)
        });
        if id == item {
            return Some(list.flatten().collect());
        }
        at += count * if wide { 2 } else { 1 };
    }
    None
}

/// The color space of a `colr` box.
fn profile(body: &[u8]) -> Option<Profile> {
    match body.get(..4)? {
        b"prof" | b"rICC" => Some(Profile::Icc),
        b"nclx" => Some(match (be16(body, 4)?, be16(body, 6)?) {
            (1, 13) => Profile::Srgb,
            (12, 13) => Profile::DisplayP3,
            _ => Profile::Coded,
        }),
        _ => None,
    }
}

/// Number of visible pictures.
fn frames(bytes: &[u8], meta: &[u8]) -> Frames {
    if boxes(bytes).any(|(kind, _)| &kind == b"moov") {
        return Frames::AtLeast(1);
    }
    // Counts visible pictures: thumbnails and tiles are hidden.
    let shown = find(meta, b"iinf").map_or(1, |body| {
        let rest = if u8_at(body, 0) == Some(0) { body.get(6..) } else { body.get(8..) };
        boxes(rest.unwrap_or_default())
            .filter(|(kind, entry)| {
                let picture = entry
                    .windows(4)
                    .take(16)
                    .any(|part| matches!(part, b"hvc1" | b"av01" | b"grid" | b"iovl" | b"iden"));
                kind == b"infe" && u8_at(entry, 3) == Some(0) && picture
            })
            .count()
    });
    Frames::AtLeast(u32::try_from(shown).unwrap_or(1).max(1))
}

/// The EXIF orientation of a counterclockwise turn in quarters followed by a mirror.
const fn orientation(turns: u8, mirror: Option<u8>) -> u8 {
    let row: [u8; 4] = match mirror {
        None => [1, 8, 3, 6],
        Some(0) => [4, 5, 2, 7],
        Some(_) => [2, 7, 4, 5],
    };
    row[(turns & 3) as usize]
}
