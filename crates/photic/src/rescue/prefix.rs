//! Prefixes that announce base64: `data:image/png;base64,`, `image/png;base64,`, `base64:`.

/// Maximum length of such a prefix.
const MAX_PREFIX: usize = 128;

/// Returns the start of the prefix that ends at `start`, or `start` itself if there is none.
pub(super) fn prefix_start(text: &[u8], start: usize) -> usize {
    let window = &text[start.saturating_sub(MAX_PREFIX)..start];
    let offset = start - window.len();
    let Some((b',' | b':', before)) = window.split_last() else { return start };
    let Some(head) = strip_end(before, b"base64") else { return start };
    let Some(head) = head.strip_suffix(b";") else { return offset + head.len() };
    // The type and its parameters, back to the first character that cannot be part of them.
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/+.-_;=:\\".contains(byte);
    let parts = head.iter().rev().take_while(|byte| is_part(byte)).count();
    let label = &head[head.len() - parts..];
    let begins =
        |word: &[u8]| label.windows(word.len()).rposition(|part| part.eq_ignore_ascii_case(word));
    match begins(b"data:").or_else(|| begins(b"image")) {
        Some(at) => offset + head.len() - parts + at,
        None => start,
    }
}

/// Strips the prefix before the base64 that fills the rest of a text.
pub(super) fn strip_prefix(text: &str) -> Option<&str> {
    let head =
        text.as_bytes().iter().take(MAX_PREFIX).position(|byte| matches!(byte, b',' | b':'))?;
    let start = head + 1;
    (prefix_start(text.as_bytes(), start) == 0).then(|| &text[start..])
}

fn strip_end<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let at = text.len().checked_sub(word.len())?;
    text[at..].eq_ignore_ascii_case(word).then_some(&text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_found_where_they_begin() {
        for (text, prefix) in [
            ("see data:image/png;base64,", "data:image/png;base64,"),
            ("see DATA:image/PNG;charset=utf-8;BASE64,", "DATA:image/PNG;charset=utf-8;BASE64,"),
            ("{\"a\":\"data:image\\/png;base64,", "data:image\\/png;base64,"),
            ("x image/png;base64,", "image/png;base64,"),
            ("x base64,", "base64,"),
            ("base64:", "base64:"),
            ("Screenshot: ", ""),
            ("a,", ""),
            ("", ""),
            ("font/woff2;base64,", ""),
        ] {
            assert_eq!(&text[prefix_start(text.as_bytes(), text.len())..], prefix, "{text}");
        }
        assert_eq!(strip_prefix("image/png;base64,AAAA"), Some("AAAA"));
        assert_eq!(strip_prefix("base64:AAAA"), Some("AAAA"));
        assert_eq!(strip_prefix("see base64:AAAA"), None);
        assert_eq!(strip_prefix("a: b"), None);
    }
}
