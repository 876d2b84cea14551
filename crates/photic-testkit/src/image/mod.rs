//! Small deterministic pictures that every decoder accepts, and files that only pretend to be one.
//!
//! This module owns test bytes: a PNG writer, four embedded formats, a few documents, base64 and
//! data URLs. It must never use a codec crate, a clock or randomness: a call always gives the same
//! bytes.

pub mod broken;
mod png;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub use png::{png, png_noise, png_with_text};

/// The two colors of the embedded pictures: mostly red, with a blue upper left quarter, 16×12.
const JPEG: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAMABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAgb/xAAgEQABAwIHAAAAAAAAAAAAAAAEAAERAhIDEyExUWGB/9oADAMBAAIRAxEAPwCIARJdZEXs2nCoggMMO7Ld3mN+vF//2Q==";
const JPEG_TURNED: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/4QA6RXhpZgAATU0AKgAAAAgAAgEOAAIAAAAMAAAAJgESAAMAAAABAAYAAAAAAABzZWNyZXQtZXhpZgD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAMABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAgb/xAAgEQABAwIHAAAAAAAAAAAAAAAEAAERAhIDEyExUWGB/9oADAMBAAIRAxEAPwCIARJdZEXs2nCoggMMO7Ld3mN+vF//2Q==";
const GIF: &str = "R0lGODdhEAAMAIEAAMgePBRa3AAAAAAAACwAAAAAEAAMAAAIKQADCBwoEIDBgwYJEkSIUOFAhgcdFoQIQGIAihUlYtzIsaPHjyBDegwIADs=";
const GIF_ANIMATED: &str = "R0lGODlhEAAMAIEAAMgePBRa3AAAAAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQACgAAACwAAAAAEAAMAAAIKQADCBwoEIDBgwYJEkSIUOFAhgcdFoQIQGIAihUlYtzIsaPHjyBDegwIACH5BAEKAAEALAAAAAAQAAwAgRTIPAAAAAAAAAAAAAgZAAEIHEiwoMGDCBMqXMiwocOHECNKnCgwIAA7";
const WEBP: &str = "UklGRkQAAABXRUJQVlA4IDgAAABwAQCdASoQAAwAAoBCJagCdAF1AAD+7nZ//kt7t7+zkxUYTBOswfuv/BFb/k3//5Bn/+oM/TwAAA==";
const WEBP_LOSSLESS: &str = "UklGRioAAABXRUJQVlA4TB4AAAAvD8ACAA9wLeJT0B6Me/6DB2LBJH/pvjFE9H8CWhw=";

/// A 16×12 baseline JPEG.
pub fn jpeg() -> Vec<u8> {
    embedded(JPEG)
}

/// The JPEG of [`jpeg`] with EXIF: orientation 6 and the description `secret-exif`.
pub fn jpeg_turned() -> Vec<u8> {
    embedded(JPEG_TURNED)
}

/// A 16×12 GIF of one frame (`GIF87a`).
pub fn gif() -> Vec<u8> {
    embedded(GIF)
}

/// A 16×12 GIF of two frames (`GIF89a`).
pub fn gif_animated() -> Vec<u8> {
    embedded(GIF_ANIMATED)
}

/// A 16×12 lossy WebP (`VP8 `).
pub fn webp() -> Vec<u8> {
    embedded(WEBP)
}

/// A 16×12 lossless WebP (`VP8L`).
pub fn webp_lossless() -> Vec<u8> {
    embedded(WEBP_LOSSLESS)
}

/// Returns a 24-bit BMP of one color: valid, but accepted by no provider.
pub fn bmp(width: u32, height: u32, [r, g, b]: [u8; 3]) -> Vec<u8> {
    let row = (width as usize * 3).next_multiple_of(4);
    let size = row * height as usize;
    let mut out = b"BM".to_vec();
    for word in [54 + size as u32, 0, 54, 40, width, height, 1 | 24 << 16, 0, size as u32] {
        out.extend(word.to_le_bytes());
    }
    out.extend([0; 16]);
    for _ in 0..height {
        let start = out.len();
        for _ in 0..width {
            out.extend([b, g, r]);
        }
        out.resize(start + row, 0);
    }
    out
}

/// An SVG document of one filled rectangle.
pub fn svg(width: u32, height: u32, [r, g, b]: [u8; 3]) -> Vec<u8> {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#{r:02x}{g:02x}{b:02x}\"/></svg>"
    )
    .into_bytes()
}

/// Returns the opening of a HEIC file: a valid `ftyp` box and an empty `mdat`, without a picture.
pub fn heic() -> Vec<u8> {
    let mut out = vec![0, 0, 0, 24];
    out.extend(b"ftypheic\0\0\0\0mif1heic");
    out.extend([0, 0, 0, 72]);
    out.extend(b"mdat");
    out.extend([0; 64]);
    out
}

/// A one-page empty PDF.
pub fn pdf() -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>",
    ];
    let mut out = String::from("%PDF-1.4\n");
    let mut table = String::from("xref\n0 4\n0000000000 65535 f \n");
    for (number, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        let _ = writeln!(out, "{} 0 obj{object}endobj", number + 1);
    }
    let start = out.len();
    let _ = writeln!(out, "{table}trailer<</Size 4/Root 1 0 R>>\nstartxref\n{start}\n%%EOF");
    out.into_bytes()
}

/// A WAV file of eight silent samples.
pub fn wav() -> Vec<u8> {
    let mut out = b"RIFF".to_vec();
    out.extend(44u32.to_le_bytes());
    out.extend(b"WAVEfmt ");
    for word in [16u32, 1 | 1 << 16, 8000, 8000, 1 | 8 << 16] {
        out.extend(word.to_le_bytes());
    }
    out.extend(b"data");
    out.extend(8u32.to_le_bytes());
    out.extend([128; 8]);
    out
}

/// Padded standard base64.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// `data:<media_type>;base64,<bytes>`.
pub fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64(bytes))
}

/// Returns a small number that represents these bytes in an assertion (FNV-1a, 64 bits).
pub fn digest(bytes: &[u8]) -> u64 {
    crate::check::fnv1a(bytes)
}

fn embedded(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}
