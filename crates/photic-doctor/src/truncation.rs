//! Detects truncated pictures by their end.
//!
//! A truncated file breaks a session like one that is too large: its header is fine, but its end is
//! missing. Only the end is decoded here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use photic::media::{Header, Payload};

/// Bytes of the end that are examined, with room for data that some writers append.
const TAIL_CHARS: usize = 1024;

/// Returns `true` if the picture is complete, or not a picture.
pub(crate) fn is_whole(payload: &Payload<'_>, header: &Header) -> bool {
    let tail = tail(payload.base64());
    match header.media_type {
        Some("image/png") => holds(&tail, b"IEND"),
        Some("image/jpeg") => holds(&tail, &[0xff, 0xd9]),
        Some("image/gif") => tail.iter().rev().find(|&&byte| byte != 0) == Some(&0x3b),
        Some("image/webp") => is_as_long_as_it_says(payload, header.bytes),
        _ => true,
    }
}

/// Returns `true` if the end contains a marker.
fn holds(tail: &[u8], mark: &[u8]) -> bool {
    memchr::memmem::rfind(tail, mark).is_some()
}

/// Returns `true` if a RIFF file has its stated length; a byte of padding may follow.
fn is_as_long_as_it_says(payload: &Payload<'_>, bytes: usize) -> bool {
    let head = payload.base64().get(..16).and_then(|head| STANDARD_NO_PAD.decode(head).ok());
    let stated = head.and_then(|head| Some(u32::from_le_bytes(head.get(4..8)?.try_into().ok()?)));
    stated.is_some_and(|stated| bytes + 1 >= stated as usize + 8)
}

/// Decodes the end of base64 data.
fn tail(base64: &[u8]) -> Vec<u8> {
    let bare = base64.trim_ascii_end();
    let bare = &bare[..bare.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1)];
    // Groups of four characters are whole bytes only when counted from the start.
    let from = bare.len().saturating_sub(TAIL_CHARS) / 4 * 4;
    STANDARD_NO_PAD.decode(&bare[from..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use photic_testkit::image;

    fn whole(bytes: &[u8]) -> bool {
        let payload = Payload::encode(bytes);
        is_whole(&payload, &payload.header())
    }

    #[test]
    fn pictures_end_and_cut_ones_do_not() {
        for picture in [
            image::png_noise(64, 64, 1),
            image::jpeg(),
            image::gif(),
            image::webp(),
            image::webp_lossless(),
        ] {
            assert!(whole(&picture));
            assert!(!whole(&picture[..picture.len() - 12]));
        }
        assert!(whole(&image::pdf()[..40]), "documents are not judged");
    }
}
