//! What the first bytes of a file say: its type, and for a picture its size.

use imagesize::{Compression, ImageType};

/// The facts a header gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The type the bytes themselves show.
    pub media_type: Option<&'static str>,
    /// Width and height in pixels.
    pub size: Option<(u32, u32)>,
    /// The length of the whole file.
    pub bytes: usize,
}

impl Header {
    /// Whether the bytes are a picture of any kind we can name.
    pub fn is_image(&self) -> bool {
        self.media_type.is_some_and(|kind| kind.starts_with("image/"))
    }
}

/// The type that the magic bytes show.
pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"%PDF-") {
        return Some("application/pdf");
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") {
        return Some("audio/wav");
    }
    if bytes.starts_with(b"ID3") || matches!(bytes, [0xff, 0xf2 | 0xf3 | 0xfa | 0xfb, ..]) {
        return Some("audio/mpeg");
    }
    // The crate below answers only from a dozen bytes on; a signature is enough for us.
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => Some("image/png"),
        Ok(ImageType::Jpeg) => Some("image/jpeg"),
        Ok(ImageType::Gif) => Some("image/gif"),
        Ok(ImageType::Webp) => Some("image/webp"),
        Ok(ImageType::Bmp) if bytes.get(6..10) == Some(&[0; 4]) => Some("image/bmp"),
        Ok(ImageType::Tiff) => Some("image/tiff"),
        Ok(ImageType::Ico) => Some("image/x-icon"),
        Ok(ImageType::Jxl) => Some("image/jxl"),
        Ok(ImageType::Heif(Compression::Av1)) => Some("image/avif"),
        Ok(ImageType::Heif(_)) => Some("image/heic"),
        _ => is_svg(bytes).then_some("image/svg+xml"),
    }
}

/// Reads what the given first bytes show; the length is the caller's to fill in.
pub(super) fn read(bytes: &[u8]) -> Header {
    let media_type = sniff(bytes);
    let size = media_type
        .filter(|kind| kind.starts_with("image/"))
        .and_then(|_| imagesize::blob_size(bytes).ok())
        .and_then(|size| Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?)))
        .filter(|&(width, height)| width > 0 && height > 0);
    Header { media_type, size, bytes: bytes.len() }
}

/// Whether files of the type begin with their size, at one place: what follows cannot change it.
pub(super) fn says_size_first(header: &Header) -> bool {
    matches!(header.media_type, Some("image/png" | "image/gif" | "image/webp" | "image/bmp"))
}

/// An XML text whose first element is `svg`.
fn is_svg(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(512)];
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with("<svg")
        || (text.starts_with("<?xml")
            || text.starts_with("<!--")
            || text.starts_with("<!DOCTYPE svg"))
            && text.contains("<svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_the_bytes_show() {
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(sniff(b"%PDF-1.7\n"), Some("application/pdf"));
        assert_eq!(sniff(b"<?xml version=\"1.0\"?>\n<svg xmlns=\"x\">"), Some("image/svg+xml"));
        assert_eq!(sniff(b"<!doctype html><html><svg></svg>"), None);
        assert_eq!(sniff(b""), None);
        assert_eq!(sniff(b"hello there, this is a text"), None);
        assert_eq!(sniff(b"BM is how this sentence starts"), None);
    }

    #[test]
    fn a_png_tells_its_size_from_its_first_bytes() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend_from_slice(&[0, 0, 5, 0, 0, 0, 3, 32, 8, 2, 0, 0, 0]);
        assert_eq!(read(&png).size, Some((1280, 800)));
    }
}
