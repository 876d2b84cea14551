//! Finds the end of a picture, from the lengths that its format states.
//!
//! A text counts as a picture only if the picture is complete to its last byte: clients cut long
//! tool results, and documentation quotes beginnings. No pixel is decoded and no payload is
//! copied. The base64 is read at computed offsets, a few characters at a time.
//!
//! | format | rule |
//! |---|---|
//! | PNG | the chunks lead from `IHDR` to `IEND` |
//! | JPEG | the segments lead to a frame and a scan, and the file ends with `EOI` |
//! | GIF | the blocks lead to the trailer |
//! | WebP | the length of the `RIFF` chunk |
//! | BMP | the length in the file header |
//! | TIFF | every value, strip and tile of every directory lies inside the file |
//! | HEIC, AVIF | the lengths of the boxes, with `ftyp` first, a `meta` or `moov` box and an `mdat` box |
//!
//! A picture may be followed by up to [`MOST_PADDING`] bytes of white space or zeros: files that
//! passed through a shell get a line break, and some encoders pad to a word. Nothing else may
//! follow.

use super::bytes::Bytes;
use super::payload::Payload;

/// Maximum number of padding bytes that may follow a picture.
const MOST_PADDING: usize = 16;

/// The end of a picture, as far as its bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The picture is complete and has this many bytes; others may follow.
    Ends(usize),
    /// The picture is not complete.
    Cut,
    /// The bytes are not a picture whose end can be found.
    Unknown,
}

impl Payload<'_> {
    /// Returns `true` if the bytes are one complete picture and nothing else, by the lengths that
    /// its format states. Only raster formats are known; for an SVG this is always `false`.
    pub fn is_whole_picture(&self) -> bool {
        match extent(self) {
            Extent::Ends(end) => self.is_padding_from(end),
            Extent::Cut | Extent::Unknown => false,
        }
    }

    /// Returns `true` if the bytes begin a picture that is incomplete or has other bytes behind
    /// it.
    pub(crate) fn is_broken_picture(&self) -> bool {
        match extent(self) {
            Extent::Ends(end) => !self.is_padding_from(end),
            Extent::Cut => true,
            Extent::Unknown => false,
        }
    }

    /// Returns the shortest file that counts as a whole picture of the same type and size: its
    /// header and its end, without pixels. Returns `None` for formats that keep their size among
    /// the pixels.
    pub(crate) fn shortest_whole(&self) -> Option<Payload<'static>> {
        let bytes = Bytes::of(self);
        let mut head = match bytes.start() {
            [0x89, b'P', b'N', b'G', ..] => {
                let mut head = bytes.first::<33>()?.to_vec();
                head.extend_from_slice(b"\0\0\0\0IEND\xaeB\x60\x82");
                head
            }
            [0xff, 0xd8, ..] => {
                let (frame, length) = jpeg_frame(&bytes)?;
                let mut head = vec![0xff, 0xd8];
                for at in frame..frame + length {
                    head.push(bytes.byte(at)?);
                }
                head.extend_from_slice(b"\xff\xda\0\x08\x01\x01\0\0\x3f\0\xff\xd9");
                head
            }
            [b'G', b'I', b'F', ..] => {
                let mut head = bytes.first::<13>()?.to_vec();
                // No table of colors follows.
                head[10] &= 0x7f;
                head.push(0x3b);
                head
            }
            [b'R', b'I', b'F', b'F', ..] => {
                let mut head = bytes.first::<30>()?.to_vec();
                head[4..8].copy_from_slice(&22u32.to_le_bytes());
                head
            }
            _ => return None,
        };
        // Without padding, it can be put before other base64 and still be told apart.
        while !head.len().is_multiple_of(3) {
            head.push(0);
        }
        Some(Payload::encode(&head)).filter(Payload::is_whole_picture)
    }

    fn is_padding_from(&self, end: usize) -> bool {
        let bytes = Bytes::of(self);
        bytes.len - end <= MOST_PADDING
            && (end..bytes.len).all(|at| bytes.byte(at).is_some_and(is_padding))
    }
}

const fn is_padding(byte: u8) -> bool {
    matches!(byte, 0 | b'\n' | b'\r' | b' ')
}

/// Finds the end of the picture that the bytes begin with.
pub(crate) fn extent(payload: &Payload<'_>) -> Extent {
    let bytes = Bytes::of(payload);
    let ends = match bytes.start() {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => png(&bytes),
        [0xff, 0xd8, 0xff, ..] => jpeg(&bytes),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => gif(&bytes),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => webp(&bytes),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, _, _] => bmp(&bytes),
        [b'I', b'I', 42, 0, ..] => super::tiff::end(&bytes, u16::from_le_bytes, u32::from_le_bytes),
        [b'M', b'M', 0, 42, ..] => super::tiff::end(&bytes, u16::from_be_bytes, u32::from_be_bytes),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => iso(&bytes),
        _ => return Extent::Unknown,
    };
    ends.filter(|&end| end <= bytes.len).map_or(Extent::Cut, Extent::Ends)
}

fn png(bytes: &Bytes<'_>) -> Option<usize> {
    let mut at = 8usize;
    loop {
        let [a, b, c, d, kind @ ..] = bytes.read::<8>(at)?;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if at == 8 && (kind != *b"IHDR" || length != 13) {
            return None;
        }
        at = at.checked_add(12)?.checked_add(length).filter(|&next| next <= bytes.len)?;
        if kind == *b"IEND" {
            return Some(at);
        }
    }
}

/// The segments of a JPEG: the frame, with the length of that segment, and the scan.
struct Segments {
    frame: Option<(usize, usize)>,
    scan: usize,
}

fn jpeg_segments(bytes: &Bytes<'_>) -> Option<Segments> {
    let mut at = 2usize;
    let mut frame = None;
    loop {
        let [0xff, marker, high, low] = bytes.read(at)? else { return None };
        match marker {
            // Fill bytes before a marker.
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            0xda => return Some(Segments { frame, scan: at }),
            0xd8 | 0xd9 | 0x00 => return None,
            _ => {
                let length = 2 + usize::from(u16::from_be_bytes([high, low]));
                // Frames: baseline to lossless, but for tables and the reserved one.
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    frame = frame.or(Some((at, length)));
                }
                at = at.checked_add(length)?;
            }
        }
    }
}

fn jpeg_frame(bytes: &Bytes<'_>) -> Option<(usize, usize)> {
    jpeg_segments(bytes)?.frame
}

fn jpeg(bytes: &Bytes<'_>) -> Option<usize> {
    let Segments { frame: Some(_), scan } = jpeg_segments(bytes)? else { return None };
    let padding = (scan..bytes.len)
        .rev()
        .take(MOST_PADDING)
        .take_while(|&at| bytes.byte(at).is_some_and(is_padding))
        .count();
    let end = bytes.len - padding;
    (end > scan + 2 && bytes.read(end - 2)? == [0xff, 0xd9]).then_some(end)
}

fn gif(bytes: &Bytes<'_>) -> Option<usize> {
    let color_table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + color_table(bytes.byte(10)?);
    loop {
        match bytes.byte(at)? {
            0x3b => return Some(at + 1),
            0x21 => at += 2,
            0x2c => at += 11 + color_table(bytes.byte(at + 9)?),
            _ => return None,
        }
        // The sub-blocks of an extension or of a frame, to the empty one.
        loop {
            let length = usize::from(bytes.byte(at)?);
            at += 1 + length;
            if length == 0 {
                break;
            }
        }
    }
}

fn webp(bytes: &Bytes<'_>) -> Option<usize> {
    let length = bytes.le32(4)?;
    // At least one chunk; a chunk of odd length is followed by a byte of padding.
    (length >= 20).then_some(8 + length + length % 2)
}

fn bmp(bytes: &Bytes<'_>) -> Option<usize> {
    let (length, pixels, header) = (bytes.le32(2)?, bytes.le32(10)?, bytes.le32(14)?);
    let is_header = matches!(header, 12 | 40 | 52 | 56 | 64 | 108 | 124);
    (is_header && pixels >= 14 + header && pixels < length).then_some(length)
}

fn iso(bytes: &Bytes<'_>) -> Option<usize> {
    let mut at = 0usize;
    let (mut has_picture, mut has_data) = (false, false);
    while at < bytes.len {
        let [a, b, c, d, kind @ ..] = bytes.read::<8>(at)?;
        let length = match u32::from_be_bytes([a, b, c, d]) {
            // A box that reaches to the end of the file does not state its length.
            0 => return None,
            1 => {
                let long = u64::from_be_bytes(bytes.read(at + 8)?);
                usize::try_from(long).ok().filter(|&long| long >= 16)?
            }
            short => short as usize,
        };
        has_picture |= kind == *b"meta" || kind == *b"moov";
        has_data |= kind == *b"mdat";
        at = at.checked_add(length).filter(|&next| length >= 8 && next <= bytes.len)?;
    }
    (has_picture && has_data).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use photic_testkit::image;

    fn is_whole(bytes: &[u8]) -> bool {
        Payload::encode(bytes).is_whole_picture()
    }

    fn iso(boxes: &[(&[u8; 4], usize)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, length) in boxes {
            out.extend((*length as u32 + 8).to_be_bytes());
            out.extend_from_slice(*kind);
            out.extend(vec![7; *length]);
        }
        out
    }

    /// A TIFF of one strip: eight bytes of header, one directory, then the pixels.
    fn tiff(little: bool) -> Vec<u8> {
        let half = |n: u16| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let word = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let mut out = if little { b"II".to_vec() } else { b"MM".to_vec() };
        out.extend(half(42));
        out.extend(word(8));
        let entries: [(u16, u16, u32, u32); 4] =
            [(256, 4, 1, 80), (257, 4, 1, 70), (273, 4, 1, 62), (279, 4, 1, 5600)];
        out.extend(half(entries.len() as u16));
        for (tag, kind, count, value) in entries {
            out.extend(half(tag));
            out.extend(half(kind));
            out.extend(word(count));
            out.extend(word(value));
        }
        out.extend(word(0));
        out.resize(62 + 5600, 9);
        out
    }

    fn whole_ones() -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("png", image::png(90, 70, [1, 2, 3])),
            ("png noise", image::png_noise(40, 30, 3)),
            ("png text", image::png_with_text(90, 70, [1, 2, 3], &[("a", "b")])),
            ("jpeg", image::jpeg()),
            ("jpeg turned", image::jpeg_turned()),
            ("gif", image::gif()),
            ("gif animated", image::gif_animated()),
            ("webp", image::webp()),
            ("webp lossless", image::webp_lossless()),
            ("bmp", image::bmp(70, 3, [1, 2, 3])),
            ("tiff, little", tiff(true)),
            ("tiff, big", tiff(false)),
            ("avif", iso(&[(b"ftyp", 16), (b"meta", 200), (b"mdat", 900)])),
        ]
    }

    #[test]
    fn whole_pictures_are_whole() {
        for (name, bytes) in whole_ones() {
            assert!(is_whole(&bytes), "{name}");
            assert!(!Payload::encode(&bytes).is_broken_picture(), "{name}");
        }
    }

    #[test]
    fn a_picture_without_its_last_byte_is_cut() {
        for (name, bytes) in whole_ones() {
            for cut in 1..bytes.len().min(2_000) {
                assert!(!is_whole(&bytes[..bytes.len() - cut]), "{name} without {cut} bytes");
            }
        }
    }

    #[test]
    fn padding_may_follow_and_nothing_else() {
        for (name, bytes) in whole_ones().into_iter().filter(|(name, _)| *name != "avif") {
            let followed = |tail: &[u8]| is_whole(&[&bytes[..], tail].concat());
            assert!(followed(b"\n") && followed(b"\0\0\0"), "{name}");
            assert!(!followed(b"PK\x03\x04") && !followed(&[0; 17]), "{name}");
            let twice = [&bytes[..], &bytes[..]].concat();
            // Two JPEG files in a row end with the end of a JPEG; decoders show the first.
            assert_eq!(is_whole(&twice), name.starts_with("jpeg"), "{name}");
        }
    }

    #[test]
    fn what_is_no_picture_has_no_end() {
        for bytes in [
            &b""[..],
            b"hello there, this is a text of some length",
            &image::svg(80, 80, [1; 3]),
            &image::pdf(),
            &image::wav(),
            &image::heic(),
            b"\x89PNG\r\n\x1a\n",
            b"BM is how this sentence starts, and so on and on",
        ] {
            assert!(!is_whole(bytes), "{bytes:?}");
        }
    }
}
