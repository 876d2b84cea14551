//! Base64 in a body: checked, and corrected if it is not canonical.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use super::header::{self, Header};
use crate::json::{Str, base64_run};

/// The content address of a medium: the BLAKE3 hash of its bytes.
pub type Digest = [u8; 32];

/// Canonical base64: standard alphabet, padded, nothing else. Usually borrowed from the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload<'a>(Cow<'a, [u8]>);

/// Senders forget padding and leave stray bits in the last character. This engine accepts both.
pub(super) const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Bytes that are enough for a file's type and, for types that put it first, its size.
const GLANCE: usize = 48;
/// Bytes that are enough for a file's type and, nearly always, its size.
const FIRST_LOOK: usize = 1024;
/// Bytes to search if the size comes after metadata: an embedded thumbnail, a color profile.
pub(crate) const HEADER_LOOK: usize = 256 * 1024;

impl<'a> Payload<'a> {
    /// Takes base64 as it is, if it is canonical. `tail_is_base64` says that everything past the
    /// first 256 bytes is already known to be base64.
    pub(crate) fn canonical(base64: &'a [u8], tail_is_base64: bool) -> Option<Self> {
        let padding = base64.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        let bare = &base64[..base64.len() - padding];
        let unknown = if tail_is_base64 { bare.len().min(crate::json::PROBE) } else { bare.len() };
        let clean = !bare.is_empty()
            && base64.len().is_multiple_of(4)
            && base64_run(&bare[..unknown]) == unknown;
        clean.then_some(Self(Cow::Borrowed(base64)))
    }

    /// Reads base64 in any of the spellings seen in the wild: unpadded, URL-safe, broken over
    /// lines, percent-encoded. Nothing is guessed: returns `None` if it does not decode.
    pub(crate) fn forgiving(text: &str) -> Option<Payload<'static>> {
        let mut base64 = Vec::with_capacity(text.len());
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let byte = match byte {
                b'%' => {
                    let digits = [bytes.next()?, bytes.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                byte => byte,
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'=' => {}
                b'-' => base64.push(b'+'),
                b'_' => base64.push(b'/'),
                byte => base64.push(byte),
            }
        }
        let decoded = FORGIVING.decode(&base64).ok()?;
        (!decoded.is_empty()).then(|| Payload::encode(&decoded))
    }

    /// Reads base64, borrowing if it can. Returns it, and `true` if it was canonical. JSON escapes
    /// around it (`\\/` for a slash) do not make it non-canonical.
    pub(crate) fn read(text: &Str<'a>, tail_is_base64: bool) -> Option<(Self, bool)> {
        if let Str::Escaped(bytes) = text
            && let Some(payload) = Self::canonical(bytes, tail_is_base64)
        {
            return Some((payload, true));
        }
        match text.decode() {
            Cow::Borrowed(plain) => Self::canonical(plain.as_bytes(), false)
                .map(|payload| (payload, true))
                .or_else(|| Some((Self::forgiving(plain)?, false))),
            Cow::Owned(plain) => Payload::canonical(plain.as_bytes(), false)
                .map(|payload| (payload.into_owned(), true))
                .or_else(|| Some((Self::forgiving(&plain)?, false))),
        }
    }

    /// Takes characters of the standard alphabet, and adds the padding.
    pub(crate) fn from_digits(mut digits: Vec<u8>) -> Option<Payload<'static>> {
        let padded = digits.len().next_multiple_of(4);
        digits.resize(padded, b'=');
        Payload::canonical(&digits, false)?;
        Some(Payload(Cow::Owned(digits)))
    }

    /// Encodes bytes.
    pub fn encode(bytes: &[u8]) -> Payload<'static> {
        Payload(Cow::Owned(STANDARD.encode(bytes).into_bytes()))
    }

    /// Returns the base64 text.
    pub fn base64(&self) -> &[u8] {
        &self.0
    }

    /// Returns a payload that borrows from this one.
    pub fn by_ref(&self) -> Payload<'_> {
        Payload(Cow::Borrowed(&self.0))
    }

    /// Returns the base64 text, borrowed from the body if it came from there.
    pub(crate) fn bytes(&self) -> Cow<'a, [u8]> {
        self.0.clone()
    }

    /// Returns a copy that borrows nothing.
    pub(crate) fn into_owned(self) -> Payload<'static> {
        Payload(Cow::Owned(self.0.into_owned()))
    }

    /// Returns the number of bytes it encodes.
    pub fn decoded_len(&self) -> usize {
        let padding = self.0.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        self.0.len() / 4 * 3 - padding.min(self.0.len())
    }

    /// Returns the bytes it encodes.
    pub fn decode(&self) -> Vec<u8> {
        FORGIVING.decode(&*self.0).unwrap_or_default()
    }

    /// Returns `true` if both encode the same bytes. The texts may still differ: the last
    /// character before the padding may have stray bits, which do not encode anything.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (&*self.0, &*other.0);
        let steady = ours.len().saturating_sub(4);
        ours.len() == theirs.len()
            && ours[..steady] == theirs[..steady]
            && FORGIVING.decode(&ours[steady..]) == FORGIVING.decode(&theirs[steady..])
    }

    /// Returns the content address of the bytes it encodes, computed without holding them all.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = [0u8; 12 * 1024];
        for chunk in self.0.chunks(16 * 1024) {
            if let Ok(length) = FORGIVING.decode_slice(chunk, &mut buffer) {
                hasher.update(&buffer[..length]);
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns `true` if the first bytes are those of a film or a sound.
    pub(crate) fn is_film_or_sound(&self) -> bool {
        let mut buffer = [0; GLANCE + 3];
        let end = (GLANCE / 3 * 4).min(self.0.len());
        let length = FORGIVING.decode_slice(&self.0[..end], &mut buffer).unwrap_or(0);
        header::is_film_or_sound(&buffer[..length])
    }

    /// Reads the header of the file.
    pub fn header(&self) -> Header {
        let bytes = self.decoded_len();
        let read = |length: usize, buffer: &mut [u8]| {
            let end = (length / 3 * 4).min(self.0.len());
            let length = FORGIVING.decode_slice(&self.0[..end], buffer).unwrap_or(0);
            header::read(&buffer[..length])
        };
        // The decoder sizes its output before it sees padding, so it needs three more bytes.
        let mut buffer = [0; FIRST_LOOK + 3];
        let mut header = read(GLANCE, &mut buffer);
        if header.size.is_none() || !header::says_size_first(&header) {
            header = read(FIRST_LOOK, &mut buffer);
        }
        if header.size.is_none() && header.media_type.is_some() && bytes > FIRST_LOOK {
            header = read(HEADER_LOOK, &mut vec![0; bytes.min(HEADER_LOOK) + 3]);
        }
        Header { bytes, ..header }
    }
}

/// Reads a string that is base64 of a picture as a whole. It must decode, and its bytes must begin
/// like a picture with a size. Length alone never decides.
pub(crate) fn whole_string_image<'a>(text: &Str<'a>, tail_is_base64: bool) -> Option<Payload<'a>> {
    // The shortest header that names a size is longer than this.
    if text.len() < 32 || !text_begins_like_image(text) {
        return None;
    }
    let (payload, _) = Payload::read(text, tail_is_base64)?;
    let header = payload.header();
    (header.is_image() && header.size.is_some() && !has_weak_magic(&header)).then_some(payload)
}

/// Returns `true` for types that are recognized by two or four bytes. That is not enough to take a
/// text for a picture.
pub(crate) fn has_weak_magic(header: &Header) -> bool {
    matches!(header.media_type, Some("image/jxl" | "image/x-icon" | "image/svg+xml"))
}

/// Returns `false` if the text does not begin like the base64 of any known picture format. This is
/// a cheap first test.
pub(crate) fn text_begins_like_image(text: &Str<'_>) -> bool {
    // Some encoders write `/9j` as `\/9j`.
    let start = text.start();
    let bytes = start.strip_prefix(b"\\").unwrap_or(start);
    // PNG, JPEG (also URL-safe), GIF, RIFF, BMP, TIFF (both), ISO media (HEIC, AVIF).
    [b"iVBO".as_slice(), b"/9j", b"_9j", b"R0lG", b"UklG", b"Qk", b"SUkq", b"TU0A", b"AAAA"]
        .iter()
        .any(|magic| bytes.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_bytes_become_one() {
        let bytes: Vec<u8> = (0..=255).collect();
        let canonical = STANDARD.encode(&bytes);
        let unpadded = canonical.trim_end_matches('=').to_owned();
        let url_safe = canonical.replace('+', "-").replace('/', "_");
        let lines = canonical
            .as_bytes()
            .chunks(76)
            .map(|line| String::from_utf8_lossy(line))
            .fold(String::new(), |text, line| text + &line + "\r\n");
        let percent = canonical.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D");
        for text in [canonical.clone(), unpadded, url_safe, lines, percent] {
            assert_eq!(Payload::forgiving(&text).unwrap().base64(), canonical.as_bytes(), "{text}");
        }
        assert!(Payload::forgiving("this is prose, not base64!").is_none());
        assert!(Payload::forgiving("").is_none());
        assert!(Payload::forgiving("%").is_none());
    }

    #[test]
    fn canonical_means_canonical() {
        for good in ["QUJD", "QUI=", "QQ=="] {
            assert!(Payload::canonical(good.as_bytes(), false).is_some(), "{good}");
        }
        for bad in ["", "=", "==", "QUJ", "QUJD=", "QU-D", "QUJD\n", "A=B=", "QUJDQ==="] {
            assert!(Payload::canonical(bad.as_bytes(), false).is_none(), "{bad}");
        }
    }

    #[test]
    fn stray_bits_make_no_other_bytes() {
        let payload = |text: &'static str| Payload::canonical(text.as_bytes(), false).unwrap();
        for (one, other, same) in [
            ("QUJDQQ==", "QUJDQQ==", true),
            ("QUJDQQ==", "QUJDQR==", true),
            ("QUJDQUI=", "QUJDQUJ=", true),
            ("QUJDQQ==", "QUJDRQ==", false),
            ("QUJDQQ==", "QUJEQQ==", false),
            ("QUJDQUJB", "QUJDQUI=", false),
            ("QQ==", "QR==", true),
            ("QQ==", "QUJDQQ==", false),
        ] {
            assert_eq!(payload(one).is_same(&payload(other)), same, "{one} {other}");
            assert_eq!(payload(one).digest() == payload(other).digest(), same, "{one} {other}");
        }
    }

    #[test]
    fn lengths_and_digests_match_the_bytes() {
        for length in [1usize, 2, 3, 1000, 16 * 1024, 40_000] {
            let bytes = vec![7u8; length];
            let payload = Payload::encode(&bytes);
            assert_eq!(payload.decoded_len(), length);
            assert_eq!(payload.decode(), bytes);
            assert_eq!(payload.digest(), *blake3::hash(&bytes).as_bytes());
        }
    }
}
