//! Checks picture bytes as a provider does on arrival: magic number, size, a whole container.
//!
//! This module owns four container walks, bounded and without decoding. It must never trust a
//! declared type.

use super::rules::Pixels;
use crate::check::crc32;

/// The reason why bytes are not a picture that a provider takes.
pub type Fault = &'static str;

/// Returns the type of the magic number, for every image format a client may send.
pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, _, _, 0, 0, 12..=124, 0, 0, 0, ..] => {
            Some("image/bmp")
        }
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Some("image/tiff"),
        [0, 0, 0, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4)? {
            b"heic" | b"heix" | b"hevc" | b"hevx" | b"heim" | b"heis" | b"mif1" | b"msf1" => {
                Some("image/heic")
            }
            b"avif" | b"avis" => Some("image/avif"),
            _ => None,
        },
        [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..] => Some("image/jxl"),
        _ => None,
    }
}

/// Returns the width and height of a whole PNG, JPEG, GIF or WebP.
pub fn whole(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    inspect(bytes, Pixels::Whole)?.ok_or("no size")
}

/// Checks a picture to the given depth. Returns `None` if no size is needed and the header has
/// none.
pub(super) fn inspect(bytes: &[u8], depth: Pixels) -> Result<Option<(u32, u32)>, Fault> {
    let walk = match sniff(bytes).ok_or("not an image")? {
        "image/png" => png,
        "image/jpeg" => jpeg,
        "image/gif" => gif,
        "image/webp" => webp,
        _ => return Err("not a type that is looked into"),
    };
    match (depth, walk(bytes, depth == Pixels::Whole)) {
        (Pixels::Magic, size) => Ok(size.ok()),
        (_, Ok((0, _) | (_, 0))) => Err("a side of no pixels"),
        (_, size) => size.map(Some),
    }
}

fn png(bytes: &[u8], whole: bool) -> Result<(u32, u32), Fault> {
    let header = bytes.get(8..33).ok_or("the header is cut off")?;
    if header[..8] != *b"\0\0\0\x0dIHDR" {
        return Err("the header chunk is missing");
    }
    let size = (be32(&header[8..]), be32(&header[12..]));
    if !whole {
        return Ok(size);
    }
    let (mut at, mut pixels) = (8, false);
    loop {
        let head = bytes.get(at..at + 8).ok_or("it ends before its end chunk")?;
        let end = at + 8 + be32(head) as usize;
        let data = bytes.get(at + 8..end).ok_or("a chunk is cut off")?;
        let sum = bytes.get(end..end + 4).ok_or("a chunk is cut off")?;
        if crc32(&[&head[4..], data]) != be32(sum) {
            return Err("a check sum is wrong");
        }
        match &head[4..] {
            b"IDAT" => pixels = true,
            b"IEND" if pixels => return Ok(size),
            b"IEND" => return Err("it has no pixels"),
            _ => {}
        }
        at = end + 4;
    }
}

fn jpeg(bytes: &[u8], whole: bool) -> Result<(u32, u32), Fault> {
    let mut at = 2;
    let mut size = None;
    loop {
        let head = bytes.get(at..at + 4).ok_or("it ends inside its headers")?;
        match (head[0], head[1]) {
            (0xFF, 0xFF) => {
                at += 1;
                continue;
            }
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                let frame = bytes.get(at + 5..at + 9).ok_or("the frame header is cut off")?;
                size = Some((be16(&frame[2..]), be16(frame)));
            }
            (0xFF, 0xDA) => break,
            (0xFF, _) => {}
            _ => return Err("a marker is missing"),
        }
        if size.is_some() && !whole {
            break;
        }
        at += 2 + be16(&head[2..]) as usize;
    }
    if whole && !bytes[at..].windows(2).any(|pair| pair == [0xFF, 0xD9]) {
        return Err("it ends before its end marker");
    }
    size.ok_or("it has no frame header")
}

fn gif(bytes: &[u8], whole: bool) -> Result<(u32, u32), Fault> {
    let screen = bytes.get(6..13).ok_or("the header is cut off")?;
    let size = (le16(screen), le16(&screen[2..]));
    if !whole {
        return Ok(size);
    }
    let mut at = 13 + palette(screen[4]);
    let mut pixels = false;
    loop {
        match *bytes.get(at).ok_or("it ends before its trailer")? {
            0x3B if pixels => return Ok(size),
            0x3B => return Err("it has no pixels"),
            0x21 => at = blocks(bytes, at + 2)?,
            0x2C => {
                let flags = *bytes.get(at + 9).ok_or("a frame is cut off")?;
                at = blocks(bytes, at + 11 + palette(flags))?;
                pixels = true;
            }
            _ => return Err("a block of no known kind"),
        }
    }
}

fn palette(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

fn blocks(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    loop {
        let length = *bytes.get(at).ok_or("it ends before its trailer")?;
        at += 1 + usize::from(length);
        if length == 0 {
            return Ok(at);
        }
    }
}

fn webp(bytes: &[u8], whole: bool) -> Result<(u32, u32), Fault> {
    let claimed = le32(&bytes[4..]) as usize + 8;
    if whole && claimed > bytes.len() {
        return Err("it is shorter than it says");
    }
    let head = bytes.get(12..30.min(bytes.len())).ok_or("the header is cut off")?;
    match (head.get(..4), head.get(8..)) {
        (Some(b"VP8 "), Some([_, _, _, 0x9D, 0x01, 0x2A, rest @ ..])) if rest.len() >= 4 => {
            Ok((le16(rest) & 0x3FFF, le16(&rest[2..]) & 0x3FFF))
        }
        (Some(b"VP8L"), Some([0x2F, rest @ ..])) if rest.len() >= 4 => {
            let bits = le32(rest);
            Ok(((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1))
        }
        (Some(b"VP8X"), Some([_, _, _, _, rest @ ..])) if rest.len() >= 6 => {
            let side = |b: &[u8]| (u32::from(b[2]) << 16 | le16(b)) + 1;
            Ok((side(rest), side(&rest[3..])))
        }
        _ => Err("its first chunk gives no size"),
    }
}

fn be16(b: &[u8]) -> u32 {
    u32::from(b[0]) << 8 | u32::from(b[1])
}

fn be32(b: &[u8]) -> u32 {
    be16(b) << 16 | be16(&b[2..])
}

fn le16(b: &[u8]) -> u32 {
    u32::from(b[1]) << 8 | u32::from(b[0])
}

fn le32(b: &[u8]) -> u32 {
    le16(&b[2..]) << 16 | le16(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{self, broken};

    #[test]
    fn real_pictures_are_whole() {
        assert_eq!(whole(&image::png(64, 48, [250, 0, 9])), Ok((64, 48)));
        assert_eq!(whole(&image::png(40_000, 30_000, [250, 0, 9])), Ok((40_000, 30_000)));
        assert_eq!(whole(&image::png_noise(200, 150, 1)), Ok((200, 150)));
        for bytes in [image::jpeg(), image::jpeg_turned(), image::gif(), image::gif_animated()] {
            assert_eq!(whole(&bytes), Ok((16, 12)));
        }
        for bytes in [image::webp(), image::webp_lossless()] {
            assert_eq!(whole(&bytes), Ok((16, 12)));
        }
        assert_eq!(broken::stub().len(), 69);
        assert_eq!(whole(&broken::stub()), Ok((1, 1)));
    }

    #[test]
    fn broken_ones_are_not() {
        let files = [
            broken::truncated_png(),
            broken::truncated_jpeg(),
            broken::png_signature(),
            broken::png_bad_crc(),
            broken::html(),
            broken::lfs_pointer(),
            broken::empty(),
            image::heic(),
            image::bmp(3, 3, [1; 3]),
        ];
        for bytes in files {
            assert!(whole(&bytes).is_err(), "{bytes:?}");
        }
        assert!(inspect(&broken::truncated_png(), Pixels::Header).is_ok());
        assert!(inspect(&broken::png_signature(), Pixels::Header).is_err());
        assert_eq!(inspect(&broken::png_signature(), Pixels::Magic), Ok(None));
    }

    #[test]
    fn no_prefix_of_a_picture_panics_or_passes() {
        for bytes in [image::png(5, 5, [7; 3]), image::gif_animated(), image::webp(), image::jpeg()]
        {
            for end in 0..bytes.len() - 1 {
                assert!(whole(&bytes[..end]).is_err());
            }
        }
    }
}
