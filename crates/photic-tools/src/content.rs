//! Detects the kind of a file from its bytes, never from its name or label.

use photic_pixels::RefusalCode;
use photic_pixels::header::{self, Format};
use serde::Serialize;

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A bitmap.
    Bitmap(Format),
    /// A bitmap whose header is damaged or lies beyond the first bytes.
    Torn,
    /// An SVG drawing, which is also text.
    Svg,
    /// A PDF document.
    Pdf,
    /// Other text.
    Text,
    /// UTF-16 text with a byte order mark.
    Utf16 {
        /// Set for big-endian text.
        big: bool,
    },
    /// Text in an unsupported encoding.
    OddText,
    /// An empty file.
    Empty,
    /// Another binary format, with its name if it is known.
    Binary(&'static str),
}

/// Signatures of common formats that are neither text nor pictures.
const BINARIES: [(&[u8], &str); 16] = [
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"8BPS", "a Photoshop document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\x1aE\xdf\xa3", "Matroska video"),
];

impl Content {
    /// Detects the kind from the first bytes of a file.
    pub fn of(head: &[u8]) -> Self {
        if head.is_empty() {
            return Self::Empty;
        }
        if let Some(big) = utf16(head) {
            return Self::Utf16 { big };
        }
        let text = is_utf8(head);
        if !text {
            match header::probe(head) {
                Ok(header) => return Self::Bitmap(header.format),
                Err(refusal) if refusal.code == RefusalCode::Corrupt => return Self::Torn,
                Err(_) => {}
            }
        }
        if head.starts_with(b"%PDF-") {
            return Self::Pdf;
        }
        if text {
            return if is_svg(head) { Self::Svg } else { Self::Text };
        }
        if let Some((_, name)) = BINARIES.iter().find(|(start, _)| head.starts_with(start)) {
            return Self::Binary(name);
        }
        if let Some(media_type) = photic::media::sniff(head) {
            return Self::Binary(media_type);
        }
        if has_no_controls(head) { Self::OddText } else { Self::Binary("binary data") }
    }

    /// Returns its name for use in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitmap(format) => format.name(),
            Self::Torn => "an incomplete picture",
            Self::Svg => "SVG",
            Self::Pdf => "PDF",
            Self::Text | Self::Utf16 { .. } | Self::OddText => "text",
            Self::Empty => "nothing",
            Self::Binary(name) => name,
        }
    }
}

fn utf16(head: &[u8]) -> Option<bool> {
    match head {
        // UTF-32 begins with the same bytes.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        _ => None,
    }
}

/// Returns whether the bytes are UTF-8 without NUL. A character cut by the end is accepted.
fn is_utf8(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() - error.valid_up_to() < 4,
    };
    whole && !head.contains(&0)
}

/// Returns whether the bytes contain no control characters that text never has.
fn has_no_controls(head: &[u8]) -> bool {
    head.iter().all(|byte| *byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
}

/// Returns whether the first element is `svg`, after the prolog that XML allows.
fn is_svg(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!") => ">",
            _ => break,
        };
        // A document type may contain declarations in brackets.
        let end = match rest.split_once(end) {
            Some((before, _)) if end == ">" && before.contains('[') => "]>",
            _ => end,
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
    let Some(tag) = rest.strip_prefix('<') else { return false };
    let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next();
    name.is_some_and(|name| name == "svg" || name.ends_with(":svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide() {
        let cases: [(&[u8], Content); 16] = [
            (b"", Content::Empty),
            (b"fn main() {}\n", Content::Text),
            (b"BMW and other makes of cars, long enough for a header of bitmaps", Content::Text),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Content::Svg),
            (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- drawn -->\n<svg/>", Content::Svg),
            (b"<!DOCTYPE svg [<!ENTITY a 'b'>]>\n<s:svg/>", Content::Svg),
            (b"<html><svg/></html>", Content::Text),
            (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", Content::Pdf),
            (b"\xff\xfea\0", Content::Utf16 { big: false }),
            (b"\xfe\xff\0a", Content::Utf16 { big: true }),
            (b"\xff\xd8\xff\xe0", Content::Torn),
            (b"\x89PNG\r\n\x1a\n", Content::Torn),
            (b"caf\xe9 au lait", Content::OddText),
            (b"PK\x03\x04\x14\0", Content::Binary("a ZIP archive or office document")),
            (b"text with a \0 in it", Content::Binary("binary data")),
            (
                "ends within an \u{e9}".as_bytes().split_last().map_or(b"", |(_, r)| r),
                Content::Text,
            ),
        ];
        for (bytes, content) in cases {
            assert_eq!(Content::of(bytes), content, "{}", bytes.escape_ascii());
        }
    }
}
