//! Every string of a request, in each form in which an error may quote it.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::{memchr, memchr2};

/// Number of levels of escaping that are undone: JSON within a string within JSON has three.
const LEVELS: usize = 3;
/// Base64 longer than this has no words of its own. Only the bytes it encodes may.
const PAYLOAD: usize = 1024;
/// Base64 shorter than this encodes too few letters to matter.
const SHORTEST_PAYLOAD: usize = 8;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A text of a request.
#[derive(Clone, Copy, Debug)]
pub enum Said<'r> {
    /// A body of JSON: every key and every string in it.
    Json(&'r [u8]),
    /// A text, such as the value of a header.
    Text(&'r str),
}

impl Said<'_> {
    /// Calls `hear` with every string, in its raw and its unescaped forms.
    pub(super) fn each(&self, mut hear: impl FnMut(&str)) {
        match self {
            Self::Text(text) => forms(text, &mut hear),
            Self::Json(body) => strings(body, |raw| match std::str::from_utf8(raw) {
                Ok(text) if memchr(b'\\', raw).is_none() => forms(text, &mut hear),
                _ => forms(&unescaped(&String::from_utf8_lossy(raw)), &mut hear),
            }),
        }
    }
}

/// Calls `found` with everything between two quotes of a body, as written. The body need not be
/// valid.
fn strings(body: &[u8], mut found: impl FnMut(&[u8])) {
    let mut rest = body;
    while let Some(start) = memchr(b'"', rest) {
        rest = &rest[start + 1..];
        let mut end = 0;
        while let Some(at) = memchr2(b'"', b'\\', rest.get(end..).unwrap_or_default()) {
            end += at;
            if rest[end] == b'"' {
                break;
            }
            end += 2;
        }
        let end = end.min(rest.len());
        found(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

/// Calls `hear` with a text and its decoded forms.
fn forms(text: &str, hear: &mut impl FnMut(&str)) {
    let payload = text.split_once(";base64,").map_or(text, |(_, payload)| payload);
    let is_payload = payload.len() >= SHORTEST_PAYLOAD && payload.bytes().all(is_base64);
    if is_payload && let Some(bytes) = decoded(payload) {
        hear(&String::from_utf8_lossy(&bytes));
    }
    if is_payload && payload.len() > PAYLOAD {
        hear(&text[..text.len() - payload.len()]);
        return;
    }
    hear(text);
    if text.contains('%') {
        hear(&percent_decoded(text));
    }
    let mut inner = Cow::Borrowed(text);
    for _ in 0..LEVELS {
        if !inner.contains('\\') {
            break;
        }
        inner = Cow::Owned(unescaped(&inner));
        hear(&inner);
    }
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn decoded(payload: &str) -> Option<Vec<u8>> {
    let whole = payload.trim_end_matches('=');
    // A single character encodes no byte.
    let whole = if whole.len() % 4 == 1 { &whole[..whole.len() - 1] } else { whole };
    LENIENT.decode(whole).ok()
}

/// Undoes the escapes of a text, as JSON and most languages write them. Invalid escapes stay.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else { break };
        rest = &rest[kind.len_utf8()..];
        let digits = match kind {
            'u' => 4,
            'x' => 2,
            'n' | 'r' | 't' | 'b' | 'f' => {
                plain.push(' ');
                continue;
            }
            other => {
                plain.push(other);
                continue;
            }
        };
        let code = rest.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        match code.and_then(char::from_u32) {
            Some(letter) => {
                plain.push(letter);
                rest = &rest[digits..];
            }
            None => plain.push(kind),
        }
    }
    plain.push_str(rest);
    plain
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            plain.push(byte);
            at += 3;
        } else {
            plain.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: Said<'_>) -> Vec<String> {
        let mut all = Vec::new();
        said.each(|text| all.push(text.to_owned()));
        all
    }

    #[test]
    fn strings_are_heard_in_every_form() {
        let body = br#"{"a b":["c\"d\u0065", 1, "%41+x"], "e":"aGVsbG8gdGhlcmU="}"#;
        let all = heard(Said::Json(body));
        for expected in ["a b", "c\"de", "%41+x", "A x", "hello there", "aGVsbG8gdGhlcmU="] {
            assert!(all.iter().any(|one| one == expected), "{expected}: {all:?}");
        }
        let twice = r#"{"a":"{\"m\":\"\\u0074his\"}"}"#;
        assert!(heard(Said::Json(twice.as_bytes())).iter().any(|one| one.contains("this")));
    }

    #[test]
    fn bodies_that_are_cut_short_are_heard_as_far_as_they_go() {
        for body in ["\"", "\"a\\", "{\"a\":\"b", "\"\\u00", "\"\\u\u{e9}\u{e9}\"", "%4", "\"a\\\""]
        {
            heard(Said::Json(body.as_bytes()));
            heard(Said::Text(body));
        }
    }
}
