//! Detects the kind of a source from its first bytes, and of a text from its name.
//!
//! A name only chooses among the kinds of text; it never turns a text into a document or vice
//! versa.

use crate::request::Kind;

impl Kind {
    /// The kind of a text, from its first bytes and its name.
    pub fn of_text(head: &[u8], name: &str) -> Self {
        let ending = name.rsplit(['/', '\\']).next().and_then(|file| file.rsplit_once('.'));
        let ending = ending.map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "md" | "markdown" | "mdown" | "mkd" => Self::Markdown,
            "csv" | "tsv" => Self::Csv,
            "json" => Self::Json,
            "ipynb" => Self::Notebook,
            "html" | "htm" | "xhtml" => Self::Html,
            "rtf" | "" if head.starts_with(RTF) => Self::Office,
            // Code may start like a page, so the name decides.
            "" if is_html(head) => Self::Html,
            _ => Self::Text,
        }
    }

    /// The kind of a binary document, if it is one.
    pub fn of_binary(head: &[u8]) -> Option<Self> {
        let has = |words: &[u8]| head.windows(words.len()).any(|window| window == words);
        match head {
            _ if head.starts_with(b"%PDF-") => Some(Self::Pdf),
            _ if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") => Some(Self::Office),
            _ if !head.starts_with(b"PK\x03\x04") => None,
            _ if has(b"[Content_Types].xml") || has(OPEN_DOCUMENT) => Some(Self::Office),
            _ => None,
        }
    }
}

/// Signature of RTF.
const RTF: &[u8] = b"{\\rtf";
/// First entry of an `OpenDocument` file: its type, uncompressed.
const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument";

/// Returns `true` for text that starts like an HTML page.
fn is_html(head: &[u8]) -> bool {
    let head = &head[..head.len().min(1024)];
    let head = String::from_utf8_lossy(head).trim_start_matches('\u{feff}').to_ascii_lowercase();
    let head = head.trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_its_name_says_and_documents_are_what_they_are() {
        let texts: [(&str, &[u8], Kind); 11] = [
            ("src/main.rs", b"fn main() {}", Kind::Text),
            ("docs/README.md", b"# hello", Kind::Markdown),
            ("DATA.CSV", b"a,b", Kind::Csv),
            ("a.b/data", b"a,b", Kind::Text),
            ("package.json", b"{}", Kind::Json),
            ("events.jsonl", b"{}\n{}", Kind::Text),
            ("study.ipynb", b"{}", Kind::Notebook),
            ("page.html", b"hello", Kind::Html),
            ("view.php", b"<!DOCTYPE html>", Kind::Text),
            ("standard input", b"\n<!DOCTYPE HTML><p>", Kind::Html),
            ("letter.rtf", b"{\\rtf1 hello}", Kind::Office),
        ];
        for (name, head, kind) in texts {
            assert_eq!(Kind::of_text(head, name), kind, "{name}");
        }
        let zip = |entry: &str| [b"PK\x03\x04", &[0; 26][..], entry.as_bytes()].concat();
        assert_eq!(Kind::of_binary(b"%PDF-1.7"), Some(Kind::Pdf));
        assert_eq!(Kind::of_binary(&zip("[Content_Types].xml")), Some(Kind::Office));
        let text = "mimetypeapplication/vnd.oasis.opendocument.text";
        assert_eq!(Kind::of_binary(&zip(text)), Some(Kind::Office));
        assert_eq!(Kind::of_binary(&zip("photos/1.jpg")), None);
        assert_eq!(Kind::of_binary(b"\x7fELF"), None);
    }
}
