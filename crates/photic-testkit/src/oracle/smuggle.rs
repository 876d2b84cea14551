//! Finds pictures that are base64 in places where the model reads letters.
//!
//! This module scans one text: for data URLs of images, and for bare runs that decode to the magic
//! number of a picture, through line breaks and JSON escapes. It must never judge by length alone:
//! hashes, keys and minified code are long too.
//!
//! Only a picture that is complete to its last byte could have been shown. Such a picture is a
//! fault if it fills a whole text. It is also a fault in the result of a tool if it has at least
//! [`SMALL`] pixels on one side. Icons, cut pictures, and pictures that a person quotes may stay.

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD_NO_PAD};

use super::picture::{sniff, whole};

/// Accepts stray bits in the last digit, which senders leave there.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Minimum length of a run. No whole picture is shorter.
const RUN: usize = 64;
/// Minimum length of a run in a data URL, which declares its type. The smallest GIF takes 36
/// characters.
const DATA_URL_RUN: usize = 32;

/// A picture of fewer pixels than this on both sides may stay in a longer text.
const SMALL: u32 = 64;

/// One picture found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smuggled {
    /// Byte offset of the first base64 character.
    pub offset: usize,
    /// Number of consecutive base64 characters.
    pub length: usize,
    /// The type that the bytes (or, for a data URL, the label) show.
    pub media_type: String,
    /// Width and height, if it is complete to its last byte.
    pub whole: Option<(u32, u32)>,
    /// `true` if the text holds nothing else.
    pub fills: bool,
}

impl Smuggled {
    /// Returns `true` if it should have been shown instead. This depends on the author of the
    /// text.
    pub(super) fn is_fault(&self, in_result: bool) -> bool {
        let large = |(width, height): (u32, u32)| width >= SMALL || height >= SMALL;
        self.whole.is_some_and(|size| self.fills || (in_result && large(size)))
    }
}

/// Returns every picture that is base64 in `text`.
pub fn smuggled(text: &str) -> Vec<Smuggled> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if digit(bytes[at]).is_none() {
            at += 1;
            continue;
        }
        let run = Run::read(bytes, at);
        at = run.end;
        found.extend(judge(text, &run));
    }
    found
}

/// Consecutive base64 digits, without line breaks and JSON escapes.
struct Run {
    /// The digits in the standard alphabet, and the offset of each.
    digits: Vec<u8>,
    offsets: Vec<usize>,
    /// Indices into `digits` where a line begins.
    lines: Vec<usize>,
    end: usize,
}

impl Run {
    fn read(bytes: &[u8], start: usize) -> Self {
        let mut run = Self { digits: Vec::new(), offsets: Vec::new(), lines: vec![0], end: start };
        while let Some(byte) = bytes.get(run.end) {
            if let Some(digit) = digit(*byte) {
                run.digits.push(digit);
                run.offsets.push(run.end);
                run.end += 1;
            } else if matches!(byte, b'\n' | b'\r') {
                // A blank line separates two pictures.
                if bytes[run.end..].starts_with(b"\n\n")
                    || bytes[run.end..].starts_with(b"\r\n\r\n")
                {
                    break;
                }
                run.end += 1;
                run.lines.push(run.digits.len());
            } else if *byte == b'\\' {
                let slashes = bytes[run.end..].iter().take_while(|b| **b == b'\\').count();
                match bytes.get(run.end + slashes) {
                    Some(b'n' | b'r') => {
                        run.end += slashes + 1;
                        run.lines.push(run.digits.len());
                    }
                    Some(b'/') => run.end += slashes,
                    _ => break,
                }
            } else {
                break;
            }
        }
        run.end = run.end.max(start + 1);
        run
    }

    fn found(&self, text: &str, from: usize, media_type: &str) -> Smuggled {
        let rest = text[self.end..].trim_start_matches('=').trim();
        let before = text[..self.offsets[from]].trim_start();
        let announced = before.is_empty()
            || (before.ends_with("base64,") && !before.contains(char::is_whitespace));
        let digits = &self.digits[from..];
        // A single leftover digit encodes no byte.
        let digits = &digits[..digits.len() - usize::from(digits.len() % 4 == 1)];
        let bytes = LENIENT.decode(digits).unwrap_or_default();
        Smuggled {
            offset: self.offsets[from],
            length: self.digits.len() - from,
            media_type: media_type.to_owned(),
            whole: whole(&bytes).ok(),
            fills: rest.is_empty() && announced,
        }
    }
}

fn judge(text: &str, run: &Run) -> Option<Smuggled> {
    let first = *run.offsets.first()?;
    if run.digits.len() >= DATA_URL_RUN
        && let Some(media_type) = image_data_url(&text[..first])
    {
        return Some(run.found(text, 0, &media_type));
    }
    if run.digits.len() < RUN {
        return None;
    }
    // A picture begins with the run, with a line of it, or right behind a word if the opening is
    // long enough to be no coincidence.
    let glued = [&b"iVBORw0KGgo"[..], b"R0lGODlh", b"R0lGODdh"]
        .into_iter()
        .filter_map(|opening| run.digits.windows(opening.len()).position(|w| w == opening));
    let starts = run.lines.iter().copied().chain(glued);
    starts.filter(|start| run.digits.len() - start >= RUN).find_map(|start| {
        let head = STANDARD_NO_PAD.decode(&run.digits[start..start + RUN]).ok()?;
        Some(run.found(text, start, sniff(&head)?))
    })
}

/// Returns the type of the image data URL whose head ends here, with any text between type and
/// comma.
fn image_data_url(before: &str) -> Option<String> {
    let tail = before.as_bytes().get(before.len().saturating_sub(128)..)?.to_ascii_lowercase();
    let tail = String::from_utf8_lossy(&tail).replace("\\/", "/");
    let head = tail.strip_suffix(";base64,")?;
    let start = head.rfind("data:image/")?;
    let media_type = head[start + 5..].split(';').next()?;
    media_type.chars().all(|c| c.is_ascii_graphic() && c != '"').then(|| media_type.to_owned())
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'+' | b'/' => Some(byte),
        _ => byte.is_ascii_alphanumeric().then_some(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::smuggled;
    use crate::image;

    fn types(text: &str) -> Vec<String> {
        smuggled(text).into_iter().map(|found| found.media_type).collect()
    }

    #[test]
    fn finds_pictures_in_every_dress() {
        let png = image::base64(&image::png(9, 9, [1, 2, 3]));
        assert_eq!(types(&png), ["image/png"]);
        assert_eq!(types(&format!("screenshot: {png}.")), ["image/png"]);
        assert_eq!(types(&format!("screenshot{png}")), ["image/png"]);
        assert_eq!(types(&format!("Screenshot\n{png}")), ["image/png"]);
        assert_eq!(types(&png.replace('+', "-").replace('/', "_")), ["image/png"]);
        let wrapped: Vec<&str> =
            png.as_bytes().chunks(20).map(|c| std::str::from_utf8(c).unwrap()).collect();
        assert_eq!(types(&wrapped.join("\n")), ["image/png"]);
        assert_eq!(types(&wrapped.join("\\n")), ["image/png"]);
        assert_eq!(types(&wrapped.join("\\\\r\\\\n")), ["image/png"]);
        let jpeg = image::base64(&image::jpeg());
        assert_eq!(types(&format!("[\"{jpeg}\",\"{png}\"]")), ["image/jpeg", "image/png"]);
        assert_eq!(types(&jpeg.replace('/', "\\/")), ["image/jpeg"]);
        for bytes in [image::gif(), image::webp(), image::bmp(8, 8, [9; 3]), image::heic()] {
            assert_eq!(types(&image::base64(&bytes)).len(), 1);
        }
    }

    #[test]
    fn a_fault_is_whole_and_fills_the_text_or_is_large_in_a_result() {
        let large = image::base64(&image::png(64, 2, [1, 2, 3]));
        let small = image::base64(&image::png(63, 63, [1, 2, 3]));
        let cut = &large[..large.len() - 8];
        let url = format!("data:image/png;base64,{small}");
        for (text, in_words, in_result) in [
            (large.clone(), true, true),
            (format!("  {large}\n"), true, true),
            (small.clone(), true, true),
            (url.clone(), true, true),
            (format!("see {url}"), false, false),
            (format!("see {large} there"), false, true),
            (format!("{{\"a\":\"{large}\"}}"), false, true),
            (format!("{{\"a\":\"{small}\"}}"), false, false),
            (cut.to_owned(), false, false),
            (format!("{large}\n\n{large}"), false, true),
        ] {
            let is_fault = |in_result| smuggled(&text).iter().any(|one| one.is_fault(in_result));
            assert_eq!((is_fault(false), is_fault(true)), (in_words, in_result), "{text}");
        }
    }

    #[test]
    fn finds_data_urls_by_their_label() {
        let svg = image::data_url("image/svg+xml", &image::svg(4, 4, [0; 3]));
        assert_eq!(types(&format!("<img src=\"{svg}\">")), ["image/svg+xml"]);
        assert_eq!(
            types("DATA:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=").len(),
            1
        );
        assert_eq!(types(&svg.replace('/', "\\/")).len(), 1);
    }

    #[test]
    fn leaves_other_long_words_alone() {
        assert!(types("write data:image/png;base64,iVBORw0KGgo and so on").is_empty());
        assert!(types(&"0123456789abcdef".repeat(40)).is_empty());
        assert!(types(&image::base64(&image::pdf())).is_empty());
        assert!(types(&"a/b/c/d/".repeat(40)).is_empty());
        assert!(types("iVBORw0KGgo").is_empty());
        assert!(types("Ünïcödé \\u00e9 \\\\ \\").is_empty());
    }
}
