//! Removes metadata from image files without changing a pixel.
//!
//! Drops EXIF, XMP, IPTC, comments, text chunks, thumbnails and secondary pictures; keeps color
//! profiles. Only data that was understood is copied. Nothing is decoded or repaired: a file that
//! breaks the rules of its format is not stripped and has to be encoded again.

use crate::header::Format;

/// Returns the file without its metadata.
///
/// Returns `None` if the file is malformed, has bytes after its end, or has a format that is not
/// supported. An animated PNG is reduced to its default picture; animated GIF and WebP keep their
/// frames. The orientation is lost with the EXIF: if the header's orientation is not 1, encode the
/// picture again instead.
pub fn strip(bytes: &[u8], format: Format) -> Option<Vec<u8>> {
    let (stripped, end) = walk(bytes, format)?;
    (end == bytes.len()).then_some(stripped)
}

/// Returns `true` if a complete picture is followed by other data, as in a polyglot, a motion photo
/// or a multi-picture JPEG.
pub fn has_trailing_data(bytes: &[u8], format: Format) -> bool {
    walk(bytes, format).is_some_and(|(_, end)| end < bytes.len())
}

/// Copies the parts to keep, and returns them with the end of the picture.
fn walk(bytes: &[u8], format: Format) -> Option<(Vec<u8>, usize)> {
    let mut input = Input { bytes, at: 0 };
    let mut out = Vec::with_capacity(bytes.len());
    match format {
        Format::Png => png(&mut input, &mut out)?,
        Format::Jpeg => jpeg(&mut input, &mut out)?,
        Format::Webp => webp(&mut input, &mut out)?,
        Format::Gif => gif(&mut input, &mut out)?,
        Format::Bmp | Format::Tiff | Format::Ico | Format::Avif | Format::Heic | Format::Jxl => {
            return None;
        }
    }
    Some((out, input.at))
}

/// A cursor over the bytes of a file.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The bytes read since a position.
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

/// Copies the chunks of a PNG that affect its pixels.
fn png(input: &mut Input<'_>, out: &mut Vec<u8>) -> Option<()> {
    let signature = input.take(8)?;
    if signature != b"\x89PNG\r\n\x1a\n" {
        return None;
    }
    out.extend_from_slice(signature);
    let (mut first, mut pixels) = (true, false);
    loop {
        let start = input.at;
        let length = u32::from_be_bytes(input.array()?) as usize;
        let kind: [u8; 4] = input.array()?;
        input.take(length)?;
        input.take(4)?;
        if first != (&kind == b"IHDR") || (first && length != 13) {
            return None;
        }
        first = false;
        match &kind {
            b"IHDR" | b"PLTE" | b"tRNS" | b"gAMA" | b"cHRM" | b"sRGB" | b"iCCP" | b"cICP" => {}
            b"IDAT" => pixels = true,
            b"IEND" => {
                out.extend_from_slice(input.since(start));
                return (pixels && length == 0).then_some(());
            }
            // An unknown critical chunk changes the meaning of the others.
            [b'A'..=b'Z', ..] => return None,
            _ => continue,
        }
        out.extend_from_slice(input.since(start));
    }
}

/// Copies the segments of a JPEG that affect its pixels.
fn jpeg(input: &mut Input<'_>, out: &mut Vec<u8>) -> Option<()> {
    if input.take(2)? != [0xFF, 0xD8] {
        return None;
    }
    out.extend_from_slice(&[0xFF, 0xD8]);
    let (mut frame, mut scan) = (false, false);
    loop {
        if input.byte()? != 0xFF {
            return None;
        }
        let mut marker = input.byte()?;
        while marker == 0xFF {
            marker = input.byte()?;
        }
        if marker == 0xD9 {
            out.extend_from_slice(&[0xFF, 0xD9]);
            return (frame && scan).then_some(());
        }
        // Not a marker, a reserved one, a restart outside a scan, or a second start.
        if matches!(marker, 0x00..=0xBF | 0xD0..=0xD8) {
            return None;
        }
        let length = usize::from(u16::from_be_bytes(input.array()?)).checked_sub(2)?;
        let body = input.take(length)?;
        if let Some(body) = kept_segment(marker, body) {
            out.extend_from_slice(&[0xFF, marker]);
            out.extend_from_slice(&(body.len() as u16 + 2).to_be_bytes());
            out.extend_from_slice(body);
        }
        match marker {
            0xC4 | 0xC8 | 0xCC => {}
            0xC0..=0xCF => frame = true,
            0xDA => {
                scan = true;
                let start = input.at;
                input.at += entropy_coded(input.rest())?;
                out.extend_from_slice(input.since(start));
            }
            _ => {}
        }
    }
}

/// The part of a segment to keep. The thumbnail of a JFIF header is dropped.
fn kept_segment(marker: u8, body: &[u8]) -> Option<&[u8]> {
    match marker {
        0xE0 if body.starts_with(b"JFIF\0") => match body.get(..14)? {
            // Fourteen bytes without a thumbnail; a longer header is dropped, which decoders
            // accept.
            head if head.ends_with(&[0, 0]) => Some(head),
            _ => None,
        },
        0xE2 if body.starts_with(b"ICC_PROFILE\0") => Some(body),
        0xEE if body.starts_with(b"Adobe") => body.get(..12),
        0xE0..=0xEF | 0xFE => None,
        _ => Some(body),
    }
}

/// Number of bytes before the next marker that is neither stuffing nor a restart.
fn entropy_coded(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xFF)?;
        match bytes.get(at + 1)? {
            0x00 | 0xD0..=0xD7 => at += 2,
            0xFF => at += 1,
            _ => return Some(at),
        }
    }
}

/// Copies the chunks of a WebP that affect its pixels.
fn webp(input: &mut Input<'_>, out: &mut Vec<u8>) -> Option<()> {
    if input.take(4)? != b"RIFF" {
        return None;
    }
    let size = u32::from_le_bytes(input.array()?) as usize;
    let mut body = Input { bytes: input.take(size)?, at: 0 };
    if body.take(4)? != b"WEBP" {
        return None;
    }
    out.extend_from_slice(b"RIFF\0\0\0\0WEBP");
    let (mut first, mut pixels) = (true, false);
    while !body.is_done() {
        let (kind, chunk) = riff_chunk(&mut body)?;
        let extended = kind == b"VP8X";
        if extended != (first && extended) {
            return None;
        }
        match kind {
            b"VP8X" => {
                let mut flags: [u8; 10] = chunk.try_into().ok()?;
                // Clears the EXIF and XMP flags.
                flags[0] &= !0x0C;
                put_chunk(out, kind, &flags);
            }
            b"VP8 " | b"VP8L" | b"ANMF" => {
                pixels = true;
                if kind == b"ANMF" {
                    put_chunk(out, kind, &frame(chunk)?);
                } else {
                    put_chunk(out, kind, chunk);
                }
            }
            b"ALPH" | b"ANIM" | b"ICCP" => put_chunk(out, kind, chunk),
            _ => {}
        }
        first = false;
    }
    let size = u32::try_from(out.len() - 8).ok()?;
    out.get_mut(4..8)?.copy_from_slice(&size.to_le_bytes());
    pixels.then_some(())
}

/// Reads a chunk as type and body.
fn riff_chunk<'a>(input: &mut Input<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let kind = input.take(4)?;
    let length = u32::from_le_bytes(input.array()?) as usize;
    let chunk = input.take(length)?;
    if length % 2 == 1 {
        input.byte()?;
    }
    Some((kind, chunk))
}

/// Writes a chunk.
fn put_chunk(out: &mut Vec<u8>, kind: &[u8], chunk: &[u8]) {
    out.extend_from_slice(kind);
    // Never longer than in the file, so it fits 32 bits.
    out.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
    out.extend_from_slice(chunk);
    if chunk.len() % 2 == 1 {
        out.push(0);
    }
}

/// Copies a frame of an animated WebP: its position, then its own chunks.
fn frame(chunk: &[u8]) -> Option<Vec<u8>> {
    let mut input = Input { bytes: chunk, at: 0 };
    let mut out = input.take(16)?.to_vec();
    while !input.is_done() {
        let (kind, chunk) = riff_chunk(&mut input)?;
        if matches!(kind, b"VP8 " | b"VP8L" | b"ALPH") {
            put_chunk(&mut out, kind, chunk);
        }
    }
    Some(out)
}

/// Copies the blocks of a GIF that affect its pixels.
fn gif(input: &mut Input<'_>, out: &mut Vec<u8>) -> Option<()> {
    if !matches!(input.take(6)?, b"GIF87a" | b"GIF89a") {
        return None;
    }
    let [.., flags, _, _] = input.array::<7>()?;
    input.take(color_table(flags))?;
    out.extend_from_slice(input.since(0));
    // The control block applies to the next picture; it is dropped if that is a plain text block.
    let mut control: &[u8] = &[];
    let mut pixels = false;
    loop {
        let start = input.at;
        match input.byte()? {
            0x3B => {
                out.push(0x3B);
                return pixels.then_some(());
            }
            0x2C => {
                let [.., flags] = input.array::<9>()?;
                input.take(color_table(flags) + 1)?;
                sub_blocks(input)?;
                out.extend_from_slice(control);
                out.extend_from_slice(input.since(start));
                control = &[];
                pixels = true;
            }
            0x21 => {
                let label = input.byte()?;
                let body = input.at;
                sub_blocks(input)?;
                match label {
                    0xF9 => control = input.since(start),
                    0xFF => out.extend_from_slice(kept_loop(input.since(start), input.since(body))),
                    0x01 => control = &[],
                    _ => {}
                }
            }
            _ => return None,
        }
    }
}

/// Bytes of a color table.
fn color_table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Skips a chain of sub-blocks.
fn sub_blocks(input: &mut Input<'_>) -> Option<()> {
    loop {
        match input.byte()? {
            0 => return Some(()),
            length => input.take(usize::from(length))?,
        };
    }
}

/// Returns the extension if it sets the number of repetitions and nothing else.
fn kept_loop<'a>(extension: &'a [u8], body: &[u8]) -> &'a [u8] {
    let name = body.get(1..12).unwrap_or_default();
    let repeats = matches!(name, b"NETSCAPE2.0" | b"ANIMEXTS1.0");
    let exact = body.len() == 17 && body.get(12..14) == Some(&[3, 1]);
    if repeats && exact { extension } else { &[] }
}
