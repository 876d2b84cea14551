//! Bytes as text: UTF-8, or UTF-16 with a byte order mark.

use std::borrow::Cow;

/// Decodes the text, without its byte order mark.
pub(crate) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok().map(Cow::Owned)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
        _ => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}<svg/>é".encode_utf16().flat_map(order).collect()
        };
        assert_eq!(text(&wide(u16::to_le_bytes)).expect("little"), "<svg/>é");
        assert_eq!(text(&wide(u16::to_be_bytes)).expect("big"), "<svg/>é");
        assert_eq!(text(b"\xef\xbb\xbf<svg/>").expect("marked"), "<svg/>");
        assert_eq!(text(b"<svg/>").expect("plain"), "<svg/>");
        assert_eq!(text(b"caf\xe9"), None);
        assert_eq!(text(b"\x1f\x8b\x08"), None);
    }
}
