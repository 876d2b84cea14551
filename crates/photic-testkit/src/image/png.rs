//! The PNG writer: one color or noise, any size, valid checksums.
//!
//! It writes a deflate stream by hand (fixed Huffman for flat pictures, stored for noise). It must
//! never grow into an encoder for real pictures.

use crate::check::{adler32, adler32_zeros, crc32};

pub(super) const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";

/// Maximum number of truecolor pixels. Above it, [`png`] writes one bit per pixel, so that a huge
/// picture stays cheap.
const TRUECOLOR_PIXELS: u64 = 1 << 20;

/// Returns a PNG of one color. Pictures of more than a megapixel are one-color palette images, so
/// that `png(40_000, 40_000, …)` is a file of about a megabyte and takes little memory.
pub fn png(width: u32, height: u32, rgb: [u8; 3]) -> Vec<u8> {
    png_with_text(width, height, rgb, &[])
}

/// Returns a [`png`] with `tEXt` chunks (keyword, text) before the pixels: metadata that must be
/// removed.
pub fn png_with_text(width: u32, height: u32, rgb: [u8; 3], texts: &[(&str, &str)]) -> Vec<u8> {
    let truecolor = u64::from(width) * u64::from(height) <= TRUECOLOR_PIXELS;
    let mut out = SIGNATURE.to_vec();
    chunk(&mut out, *b"IHDR", &header(width, height, if truecolor { (8, 2) } else { (1, 3) }));
    if !truecolor {
        chunk(&mut out, *b"PLTE", &rgb);
    }
    for (keyword, text) in texts {
        chunk(&mut out, *b"tEXt", &[keyword.as_bytes(), b"\0", text.as_bytes()].concat());
    }
    let data = if truecolor { flat(width, height, rgb) } else { zeros(width, height) };
    chunk(&mut out, *b"IDAT", &data);
    chunk(&mut out, *b"IEND", &[]);
    out
}

/// Returns a truecolor PNG of pseudo-random pixels that does not compress: about
/// `3 * width * height` bytes.
pub fn png_noise(width: u32, height: u32, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut raw = Vec::new();
    for _ in 0..height {
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        raw.push(0);
        raw.extend((0..width * 3).map(|_| noise()));
    }
    let mut data = vec![0x78, 0x01];
    let mut blocks = raw.chunks(0xFFFF).peekable();
    while let Some(block) = blocks.next() {
        data.push(u8::from(blocks.peek().is_none()));
        let length = block.len() as u16;
        data.extend(length.to_le_bytes());
        data.extend((!length).to_le_bytes());
        data.extend(block);
    }
    data.extend(adler32(&raw).to_be_bytes());
    let mut out = SIGNATURE.to_vec();
    chunk(&mut out, *b"IHDR", &header(width, height, (8, 2)));
    chunk(&mut out, *b"IDAT", &data);
    chunk(&mut out, *b"IEND", &[]);
    out
}

fn header(width: u32, height: u32, (depth, color): (u8, u8)) -> Vec<u8> {
    let mut out = Vec::from(width.to_be_bytes());
    out.extend(height.to_be_bytes());
    out.extend([depth, color, 0, 0, 0]);
    out
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(name);
    out.extend(data);
    out.extend(crc32(&[&name, data]).to_be_bytes());
}

/// Writes rows of `0 r g b r g b …`: four literals, then the pixel repeated.
fn flat(width: u32, height: u32, [r, g, b]: [u8; 3]) -> Vec<u8> {
    let mut bits = Bits::open();
    let mut raw = Vec::new();
    for _ in 0..height {
        for byte in [0, r, g, b] {
            bits.literal(byte);
        }
        bits.repeat(u64::from(width.saturating_sub(1)) * 3, 3, 0);
        raw.push(0);
        raw.extend([r, g, b].repeat(width as usize));
    }
    bits.close(adler32(&raw))
}

/// Writes one bit per pixel, all of them palette entry 0: only zero bytes.
fn zeros(width: u32, height: u32) -> Vec<u8> {
    let count = (u64::from(width.div_ceil(8)) + 1) * u64::from(height);
    let mut bits = Bits::open();
    bits.literal(0);
    bits.repeat(count.saturating_sub(1), 1, 0);
    bits.close(adler32_zeros(count))
}

/// A zlib stream of one deflate block with the fixed Huffman codes (RFC 1951 §3.2.6).
struct Bits {
    out: Vec<u8>,
    hold: u32,
    held: u32,
}

impl Bits {
    fn open() -> Self {
        let mut bits = Self { out: vec![0x78, 0x01], hold: 0, held: 0 };
        bits.push(0b011, 3);
        bits
    }

    fn push(&mut self, value: u32, count: u32) {
        self.hold |= value << self.held;
        self.held += count;
        while self.held >= 8 {
            self.out.push(self.hold as u8);
            self.hold >>= 8;
            self.held -= 8;
        }
    }

    /// Writes a Huffman code, most significant bit first.
    fn code(&mut self, value: u32, count: u32) {
        self.push(value.reverse_bits() >> (32 - count), count);
    }

    fn symbol(&mut self, symbol: u32) {
        match symbol {
            0..=143 => self.code(0x30 + symbol, 8),
            144..=255 => self.code(0x190 + symbol - 144, 9),
            256..=279 => self.code(symbol - 256, 7),
            _ => self.code(0xC0 + symbol - 280, 8),
        }
    }

    fn literal(&mut self, byte: u8) {
        self.symbol(u32::from(byte));
    }

    /// Writes `count` more bytes, copied from `distance` (1 to 4) back. A remainder under three is
    /// written as `rest`.
    fn repeat(&mut self, mut count: u64, distance: u32, rest: u8) {
        while count >= 3 {
            let length = count.min(258) as u32;
            let short = length - 3;
            if length == 258 {
                self.symbol(285);
            } else if short < 8 {
                self.symbol(257 + short);
            } else {
                let extra = short.ilog2() - 2;
                self.symbol(257 + 4 * (extra + 1) + ((short >> extra) & 3));
                self.push(short & ((1 << extra) - 1), extra);
            }
            self.code(distance - 1, 5);
            count -= u64::from(length);
        }
        for _ in 0..count {
            self.literal(rest);
        }
    }

    fn close(mut self, adler: u32) -> Vec<u8> {
        self.symbol(256);
        self.push(0, (8 - self.held) % 8);
        self.out.extend(adler.to_be_bytes());
        self.out
    }
}
