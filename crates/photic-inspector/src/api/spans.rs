//! Pieces of bodies for people: texts cut to a length, and base64 as a description of its bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_pixels::header::probe;
use serde_json::Value;

use super::index::SessionIndex;
use super::object::Object;
use super::sessions::digest_text;

/// Fewest letters of base64 that stand for bytes.
const MIN_BASE64: usize = 256;
/// Longest text of a side, in bytes.
const MAX_TEXT: usize = 2000;

/// Returns the pieces of one side of a difference.
pub(crate) fn spans(text: &[u8], is_changed: bool, index: Option<&SessionIndex>) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut room = MAX_TEXT;
    for run in base64_runs(text) {
        push_text(&mut pieces, &text[at..run.start], is_changed, &mut room);
        pieces.push(blob(&text[run.clone()], is_changed, index));
        at = run.end;
    }
    push_text(&mut pieces, &text[at..], is_changed, &mut room);
    pieces
}

fn push_text(pieces: &mut Vec<Value>, text: &[u8], is_changed: bool, room: &mut usize) {
    if text.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(text);
    let mark = |object: Object| object.maybe("changed", is_changed.then_some(true));
    let mut end = text.len().min(*room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    *room -= end;
    if end > 0 {
        pieces.push(mark(Object::new().with("text", &text[..end])).value());
    }
    if end < text.len() {
        pieces.push(mark(Object::new().with("cut", text.len() - end)).value());
    }
}

/// Describes base64: type, size, bytes and digest.
fn blob(base64: &[u8], is_changed: bool, index: Option<&SessionIndex>) -> Value {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    let digest = *blake3::hash(&bytes).as_bytes();
    let media_type = photic::media::sniff(&bytes).unwrap_or("application/octet-stream");
    let size = probe(&bytes).ok().map(|header| (header.width, header.height));
    let blob = Object::new()
        .with("media_type", media_type)
        .maybe("size", size)
        .with("bytes", bytes.len())
        .with("digest", digest_text(&digest))
        .maybe("picture", index.and_then(|index| index.number_of(&digest)));
    let span = Object::new().with("blob", blob.value());
    span.maybe("changed", is_changed.then_some(true)).value()
}

/// Returns the runs of base64 that are too long to be words.
fn base64_runs(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut runs = Vec::new();
    let mut start = 0;
    for at in 0..=text.len() {
        if text.get(at).is_some_and(|byte| is_letter(*byte)) {
            continue;
        }
        if at - start >= MIN_BASE64 && STANDARD.decode(&text[start..at]).is_ok() {
            runs.push(start..at);
        }
        start = at + 1;
    }
    runs
}

/// Returns a text cut to a length in bytes, and its whole length if it was cut.
pub(crate) fn cut(text: &str, most: usize) -> (&str, Option<usize>) {
    if text.len() <= most {
        return (text, None);
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], Some(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_described_and_text_is_cut() {
        let base64 = STANDARD.encode([7; 600]);
        let text = format!("{{\"data\":\"{base64}\"}}");
        let pieces = spans(text.as_bytes(), true, None);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[0]["text"], "{\"data\":\"");
        assert_eq!(pieces[1]["blob"]["bytes"], 600);
        assert_eq!(pieces[2]["changed"], true);
        let pieces = spans("ä ".repeat(3000).as_bytes(), false, None);
        assert!(pieces[0]["text"].as_str().is_some_and(|text| text.len() <= MAX_TEXT));
        assert!(pieces[1]["cut"].as_u64().is_some_and(|cut| cut > 4000));
        assert_eq!(cut("äb", 1), ("", Some(3)));
    }
}
