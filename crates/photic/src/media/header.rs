//! Reads the first bytes of a file: its type and, for a picture, its size.

use imagesize::ImageType;

/// The facts read from a file's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The type that the bytes show.
    pub media_type: Option<&'static str>,
    /// Width and height in pixels.
    pub size: Option<(u32, u32)>,
    /// The length of the whole file.
    pub bytes: usize,
}

impl Header {
    /// Returns `true` if the bytes are a picture of any known type.
    pub fn is_image(&self) -> bool {
        self.media_type.is_some_and(|kind| kind.starts_with("image/"))
    }
}

/// Returns the type that the magic bytes show.
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
    // Films, sounds and some pictures share one container format. The brand tells them apart.
    if bytes.get(4..8) == Some(b"ftyp") {
        return iso_picture(bytes);
    }
    // `imagesize` needs a dozen bytes; the signature alone is enough here.
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
        _ => is_svg(bytes).then_some("image/svg+xml"),
    }
}

/// Brands of still pictures and picture sequences, and their type.
const PICTURE_BRANDS: [([u8; 4], &str); 10] = [
    (*b"heic", "image/heic"),
    (*b"heix", "image/heic"),
    (*b"hevc", "image/heic"),
    (*b"hevx", "image/heic"),
    (*b"heim", "image/heic"),
    (*b"heis", "image/heic"),
    (*b"mif1", "image/heic"),
    (*b"msf1", "image/heic"),
    (*b"avif", "image/avif"),
    (*b"avis", "image/avif"),
];

/// Brands that any coding of a picture may have.
const NEUTRAL_BRANDS: [[u8; 4]; 3] = [*b"mif1", *b"msf1", *b"miaf"];

/// Returns the type of an ISO base media file if it is a picture, by the brands of its first box.
/// The major brand decides. The compatible brands decide only if the major brand is neutral.
fn iso_picture(bytes: &[u8]) -> Option<&'static str> {
    let length =
        bytes.get(..4).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes)?;
    let end = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
    let type_of = |brand: &[u8]| {
        PICTURE_BRANDS.iter().find(|(known, _)| known == brand).map(|(_, name)| *name)
    };
    let major = bytes.get(8..12)?;
    if !NEUTRAL_BRANDS.iter().any(|neutral| neutral == major) {
        return type_of(major);
    }
    let compatible = bytes.get(16..end).unwrap_or_default().chunks_exact(4);
    let is_neutral = |brand: &[u8]| NEUTRAL_BRANDS.iter().any(|neutral| neutral == brand);
    compatible.filter(|brand| !is_neutral(brand)).find_map(type_of).or_else(|| type_of(major))
}

/// Returns `true` if the bytes are a film or a sound, which never becomes a picture.
pub(super) fn is_film_or_sound(bytes: &[u8]) -> bool {
    let is_iso = bytes.get(4..8) == Some(b"ftyp") && iso_picture(bytes).is_none();
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let is_riff = begins(b"RIFF") && matches!(bytes.get(8..12), Some(b"WAVE" | b"AVI "));
    is_iso
        || is_riff
        || [&b"OggS"[..], b"fLaC", b"ID3", b"\x1a\x45\xdf\xa3", b"FORM"].into_iter().any(begins)
        || matches!(bytes, [0xff, 0xf1..=0xf3 | 0xf9..=0xfb, ..])
}

/// Reads the given first bytes. The caller fills in the length.
pub(super) fn read(bytes: &[u8]) -> Header {
    let media_type = sniff(bytes);
    let size = media_type
        .filter(|kind| kind.starts_with("image/"))
        .and_then(|_| imagesize::blob_size(bytes).ok())
        .and_then(|size| Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?)))
        .filter(|&(width, height)| width > 0 && height > 0);
    Header { media_type, size, bytes: bytes.len() }
}

/// Returns `true` if files of the type have their size at a fixed place near the start, so that
/// later bytes cannot change it.
pub(super) fn says_size_first(header: &Header) -> bool {
    matches!(header.media_type, Some("image/png" | "image/gif" | "image/webp" | "image/bmp"))
}

/// Returns `true` for XML text whose first element is `svg`.
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

    /// Builds the first box of an ISO file with those brands, and a little more.
    fn iso(major: [u8; 4], compatible: &[&[u8; 4]]) -> Vec<u8> {
        let length = 16 + 4 * compatible.len() as u32;
        let mut bytes = [&length.to_be_bytes()[..], b"ftyp", &major, &[0; 4]].concat();
        for brand in compatible {
            bytes.extend(*brand);
        }
        bytes.extend(b"\0\0\0\x08free");
        bytes
    }

    #[test]
    fn films_and_sounds_in_boxes_are_no_pictures() {
        for (major, compatible) in [
            (b"isom", &[b"isom", b"iso2", b"avc1", b"mp41"][..]),
            (b"mp42", &[b"isom", b"mp42"]),
            (b"qt  ", &[b"qt  "]),
            (b"M4A ", &[b"M4A ", b"mp42", b"isom"]),
            (b"M4V ", &[]),
            (b"3gp5", &[b"3gp5", b"isom"]),
            (b"iso5", &[b"avc1", b"dash"]),
        ] {
            let bytes = iso(*major, compatible);
            assert_eq!(sniff(&bytes), None, "{major:?}");
            assert!(is_film_or_sound(&bytes));
            assert_eq!(read(&bytes).size, None);
        }
    }

    #[test]
    fn brands_of_pictures() {
        for brand in [b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"] {
            let bytes = iso(*brand, &[b"mif1"]);
            assert_eq!(sniff(&bytes), Some("image/heic"), "{brand:?}");
            assert!(!is_film_or_sound(&bytes));
        }
        assert_eq!(sniff(&iso(*b"avif", &[b"mif1", b"miaf"])), Some("image/avif"));
        assert_eq!(sniff(&iso(*b"avis", &[b"msf1", b"iso8"])), Some("image/avif"));
        assert_eq!(sniff(&iso(*b"mif1", &[b"miaf", b"avif"])), Some("image/avif"));
        assert_eq!(sniff(&iso(*b"mif1", &[b"heic"])), Some("image/heic"));
        assert_eq!(sniff(&iso(*b"miaf", &[b"isom"])), None);
        assert_eq!(sniff(b"\0\0\0\x18ftyp"), None);
    }

    #[test]
    fn a_png_tells_its_size_from_its_first_bytes() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend_from_slice(&[0, 0, 5, 0, 0, 0, 3, 32, 8, 2, 0, 0, 0]);
        assert_eq!(read(&png).size, Some((1280, 800)));
    }
}
