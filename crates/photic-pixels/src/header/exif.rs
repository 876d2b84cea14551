//! The orientation tag of an EXIF block. A malformed block counts as orientation 1.

/// Reads the orientation from an EXIF body, with or without `Exif\0\0` in front.
pub(super) fn orientation(body: &[u8]) -> u8 {
    read(body.strip_prefix(b"Exif\0\0").unwrap_or(body)).unwrap_or(1)
}

/// Finds the orientation in the first directory.
fn read(body: &[u8]) -> Option<u8> {
    let big = match body.get(..4)? {
        b"MM\0\x2a" => true,
        b"II\x2a\0" => false,
        _ => return None,
    };
    let two = |at: usize| -> Option<u16> {
        let pair: [u8; 2] = body.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    };
    let four = |at: usize| -> Option<u32> {
        let quad: [u8; 4] = body.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if big { u32::from_be_bytes(quad) } else { u32::from_le_bytes(quad) })
    };
    let start = four(4)? as usize;
    let count = usize::from(two(start)?);
    for entry in (0..count.min(512)).map_while(|n| start.checked_add(2 + n * 12)) {
        if two(entry)? != 0x0112 {
            continue;
        }
        // SHORT is the only legal type, but some writers use LONG.
        let value = match two(entry + 2)? {
            3 => u32::from(two(entry + 8)?),
            4 => four(entry + 8)?,
            _ => return None,
        };
        return u8::try_from(value).ok().filter(|value| (1..=8).contains(value));
    }
    None
}
