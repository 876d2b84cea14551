//! Detects the format of a file by its first bytes, and describes files that are not images.

use super::heif;
use super::types::Format;
use crate::refusal::{Refusal, RefusalCode};

/// Detects the format, or refuses the file.
pub(super) fn format(bytes: &[u8]) -> Result<Format, Refusal> {
    if bytes.is_empty() {
        return Err(Refusal::new(
            RefusalCode::Empty,
            "the file is empty",
            "write or fetch it again, then look",
        ));
    }
    magic(bytes).ok_or_else(|| refuse(bytes))
}

/// The image format that the first bytes show.
fn magic(bytes: &[u8]) -> Option<Format> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Format::Png),
        [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Format::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::Webp),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Some(Format::Tiff),
        [0, 0, 1 | 2, 0, count, 0, ..] if *count > 0 => Some(Format::Ico),
        [0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', b' ', b'\r', b'\n', 0x87, b'\n', ..] => {
            Some(Format::Jxl)
        }
        [b'B', b'M', ..] if is_bmp(bytes) => Some(Format::Bmp),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => heif::brand(bytes),
        _ => None,
    }
}

/// Two letters are weak evidence: the header's length must be a known one as well.
fn is_bmp(bytes: &[u8]) -> bool {
    matches!(bytes.get(14..18), Some([12 | 16 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

/// The refusal of a file without a supported image format.
fn refuse(bytes: &[u8]) -> Refusal {
    if let Some((name, hint)) = other(bytes) {
        return Refusal::new(
            RefusalCode::UnsupportedFormat,
            format!("this is {name}, which is not decoded here"),
            hint,
        );
    }
    let (looks, hint) = looks(bytes);
    Refusal::new(
        RefusalCode::NotAnImage,
        format!("this is not an image: it looks like {looks}"),
        hint,
    )
}

/// Advice for picture formats without a decoder.
const TO_PNG: &str = "save it as PNG or JPEG and look at that";

/// Picture formats without a decoder here: name and advice.
fn other(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => {
            ("a PDF document", "render one of its pages to PNG and look at that")
        }
        [b'8', b'B', b'P', b'S', ..] => ("a Photoshop document", TO_PNG),
        [0x1f, 0x8b, ..] => {
            ("gzip data, perhaps a compressed SVG", "unpack it first, then look at what is inside")
        }
        [0, 0, 0, 12, b'j', b'P', b' ', b' ', ..] | [0xff, 0x4f, 0xff, 0x51, ..] => {
            ("a JPEG 2000 image", TO_PNG)
        }
        [b'q', b'o', b'i', b'f', ..] => ("a QOI image", TO_PNG),
        [b'D', b'D', b'S', b' ', ..] => ("a DDS texture", TO_PNG),
        [0x76, 0x2f, 0x31, 0x01, ..] => ("an OpenEXR image", TO_PNG),
        [b'#', b'?', b'R', b'A', b'D' | b'G', ..] => ("a Radiance HDR image", TO_PNG),
        [b'P', b'1'..=b'7', b' ' | b'\n' | b'\r' | b'\t', ..] => ("a PNM image", TO_PNG),
        [b'i', b'c', b'n', b's', ..] => ("an Apple icon set", TO_PNG),
        [b'%', b'!', b'P', b'S', ..] => ("a PostScript document", "turn it into a PDF or a PNG"),
        [0x1a, 0x45, 0xdf, 0xa3, ..] => ("a Matroska or WebM video", VIDEO),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => ("an MP4 or QuickTime file", VIDEO),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => ("an AVI video", VIDEO),
        _ if is_svg(bytes) => ("an SVG drawing", "render it to pixels, or read its source as text"),
        _ => return None,
    };
    Some(found)
}

/// Advice for videos.
const VIDEO: &str = "save one frame as PNG or JPEG and look at that";

/// Returns `true` for XML, in UTF-8 or UTF-16, whose first element is `svg`.
fn is_svg(bytes: &[u8]) -> bool {
    let text = text(bytes);
    let mut rest = text.as_str();
    // Skips the declaration, comments and document type.
    for _ in 0..64 {
        rest = rest.trim_start_matches('\u{feff}').trim_start();
        let close = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype")) {
            if rest.find('[').is_some_and(|open| Some(open) < rest.find('>')) { "]>" } else { ">" }
        } else {
            break;
        };
        let Some(end) = rest.find(close) else { return false };
        rest = &rest[end + close.len()..];
    }
    let name = rest.strip_prefix('<').unwrap_or_default();
    let name = name.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next();
    matches!(name, Some("svg" | "svg:svg"))
}

/// The start of the file as text.
fn text(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(4096)];
    let wide = |from: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = start.chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match start {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(start).into_owned(),
    }
}

/// A guess at what a file that is not an image contains, and advice.
fn looks(bytes: &[u8]) -> (&'static str, &'static str) {
    let magic = match bytes {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some("a ZIP archive or an office document"),
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', ..] => Some("a program"),
        [b'I', b'D', b'3', ..] | [b'O', b'g', b'g', b'S', ..] | [b'f', b'L', b'a', b'C', ..] => {
            Some("a sound file")
        }
        [b'R', b'I', b'F', b'F', ..] => Some("a RIFF file, perhaps sound"),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => Some("a SQLite database"),
        _ => None,
    };
    if let Some(looks) = magic {
        return (looks, "look at an image file");
    }
    let text = text(bytes);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let lower: String = start.chars().take(1024).collect::<String>().to_ascii_lowercase();
    if start.starts_with("version https://git-lfs") {
        return ("a Git LFS pointer", "run `git lfs pull` to get the image itself");
    }
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") || lower.contains("<body")
    {
        return ("an HTML page, perhaps an error page", "check the address it came from");
    }
    if start.starts_with("data:image/") {
        return ("a data URL", "decode its base64 part first");
    }
    if start.starts_with('{') || start.starts_with('[') {
        return ("JSON, perhaps an error answer", "read it as text");
    }
    if start.starts_with("<?xml") {
        return ("XML", "read it as text");
    }
    if bytes.iter().all(|&byte| byte == 0) {
        return ("nothing but zero bytes", "write or fetch it again, then look");
    }
    let odd = bytes.iter().take(4096).filter(|&&byte| byte < 9 || (14..32).contains(&byte)).count();
    if odd == 0
        && std::str::from_utf8(&bytes[..bytes.len().min(4096)])
            .map_or_else(|error| error.error_len().is_none(), |_| true)
    {
        return ("text", "read it as text");
    }
    ("data of an unknown kind", "look at an image file")
}
