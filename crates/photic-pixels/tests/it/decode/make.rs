//! Files made by hand, so that the decoder is not tested against its own idea of a format.

use std::io::Cursor;

use png::{BitDepth, ColorType};

/// A chunk of a PNG.
pub(crate) fn chunk(kind: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u32).to_be_bytes().to_vec();
    out.extend_from_slice(kind);
    out.extend_from_slice(body);
    let sum = crc(&out[4..]);
    out.extend_from_slice(&sum.to_be_bytes());
    out
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

/// Parts of a PNG file.
pub(crate) struct Png<'a> {
    pub(crate) size: (u32, u32),
    pub(crate) color: ColorType,
    pub(crate) depth: BitDepth,
    pub(crate) data: &'a [u8],
    /// Chunks in front of the pixels.
    pub(crate) extra: Vec<Vec<u8>>,
}

impl Png<'_> {
    pub(crate) fn file(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
        head.extend([self.depth as u8, self.color as u8, 0, 0, 0]);
        let row = (width as usize * self.color.samples() * self.depth as usize).div_ceil(8);
        let raw: Vec<u8> =
            self.data.chunks_exact(row).flat_map(|row| [&[0], row].concat()).collect();
        assert_eq!(raw.len(), (row + 1) * height as usize);
        self.wrap(&head, &raw)
    }

    /// Makes a file with these pixels in the seven passes of Adam7; whole bytes per sample only.
    pub(crate) fn interlaced(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
        head.extend([self.depth as u8, self.color as u8, 0, 0, 1]);
        let pixel = self.color.samples() * self.depth as usize / 8;
        let mut raw = Vec::new();
        for (x, y, across, down) in [
            (0, 0, 8, 8),
            (4, 0, 8, 8),
            (0, 4, 4, 8),
            (2, 0, 4, 4),
            (0, 2, 2, 4),
            (1, 0, 2, 2),
            (0, 1, 1, 2),
        ] {
            for row in (y..height as usize).step_by(down) {
                let columns: Vec<usize> = (x..width as usize).step_by(across).collect();
                if columns.is_empty() {
                    continue;
                }
                raw.push(0);
                for column in columns {
                    let at = (row * width as usize + column) * pixel;
                    raw.extend_from_slice(&self.data[at..at + pixel]);
                }
            }
        }
        self.wrap(&head, &raw)
    }

    fn wrap(&self, head: &[u8], raw: &[u8]) -> Vec<u8> {
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        out.extend(chunk(b"IHDR", head));
        out.extend(self.extra.iter().flatten());
        out.extend(chunk(b"IDAT", &fdeflate::compress_to_vec(raw)));
        out.extend(chunk(b"IEND", &[]));
        out
    }
}

/// A TIFF-shaped EXIF block with one orientation.
pub(crate) fn exif(orientation: u8, big: bool) -> Vec<u8> {
    let value = u16::from(orientation);
    let two = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let four = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut out = if big { b"MM".to_vec() } else { b"II".to_vec() };
    out.extend(two(42));
    out.extend(four(8));
    out.extend(two(1));
    out.extend(two(0x0112));
    out.extend(two(3));
    out.extend(four(1));
    out.extend(two(value));
    out.extend(two(0));
    out.extend(four(0));
    out
}

/// A JPEG with segments put after its start.
pub(crate) fn with_segment(jpeg: &[u8], marker: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xff, marker], &length, body, &jpeg[2..]].concat()
}

/// A JPEG of RGB pixels at the best quality, chroma in full.
pub(crate) fn jpeg(size: (u32, u32), rgb: &[u8]) -> Vec<u8> {
    let (format, chroma) =
        (libjpeg_turbo_rs::PixelFormat::Rgb, libjpeg_turbo_rs::Subsampling::S444);
    libjpeg_turbo_rs::compress(rgb, size.0 as usize, size.1 as usize, format, 100, chroma).unwrap()
}

/// A chunk of a WebP.
pub(crate) fn part(kind: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = kind.to_vec();
    out.extend((body.len() as u32).to_le_bytes());
    out.extend_from_slice(body);
    out.extend(std::iter::repeat_n(0, body.len() & 1));
    out
}

pub(crate) fn riff(parts: &[Vec<u8>]) -> Vec<u8> {
    let body = parts.concat();
    let mut out = b"RIFF".to_vec();
    out.extend((body.len() as u32 + 4).to_le_bytes());
    out.extend_from_slice(b"WEBP");
    out.extend(body);
    out
}

/// The extended header of a WebP.
pub(crate) fn vp8x(size: (u32, u32), flags: u8) -> Vec<u8> {
    let mut body = vec![flags, 0, 0, 0];
    body.extend(&(size.0 - 1).to_le_bytes()[..3]);
    body.extend(&(size.1 - 1).to_le_bytes()[..3]);
    part(b"VP8X", &body)
}

/// The lossless chunk of a WebP.
pub(crate) fn vp8l(size: (u32, u32), data: &[u8], alpha: bool) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let color = if alpha { image_webp::ColorType::Rgba8 } else { image_webp::ColorType::Rgb8 };
    image_webp::WebPEncoder::new(&mut out).encode(data, size.0, size.1, color).unwrap();
    out.into_inner()[12..].to_vec()
}

/// A picture in which every pixel is of another colour.
pub(crate) fn colors(size: (u32, u32)) -> Vec<u8> {
    (0..size.1)
        .flat_map(|y| {
            (0..size.0).flat_map(move |x| [(x * 7) as u8, (y * 9) as u8, ((x ^ y) * 5) as u8])
        })
        .collect()
}
