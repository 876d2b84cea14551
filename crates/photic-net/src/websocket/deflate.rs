//! The extension `permessage-deflate` (RFC 7692).

use bytes::{Buf, Bytes};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use http::header::SEC_WEBSOCKET_EXTENSIONS;
use http::{HeaderMap, HeaderValue};

use super::frame::ReadError;
use super::handshake::BadHandshake;

const NAME: &str = "permessage-deflate";
/// The bytes that a sender removes from the end of a message, and its receiver appends.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes of a decompressed piece.
const PIECE: usize = 32 << 10;

/// The agreed parameters of the extension, for one side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    /// The size of our window as a power of two. `None` if we cannot keep to the one that was agreed,
    /// so that nothing is compressed.
    window: Option<u8>,
    /// Set if each message that we send is compressed for itself.
    sends_alone: bool,
    /// Set if each message that we receive is compressed for itself.
    receives_alone: bool,
}

/// Decompresses the messages of one direction.
#[derive(Debug)]
pub(super) struct Inflater {
    inner: Decompress,
    /// Set if each message is compressed for itself.
    alone: bool,
    /// Set while a message may have more output than was taken.
    is_full: bool,
}

/// Compresses the messages of one direction.
#[derive(Debug)]
pub(super) struct Deflater {
    inner: Compress,
    alone: bool,
}

impl Deflate {
    /// The most memory that one side needs for the extension: 256 KiB to compress with, and 32 KiB
    /// each for the window and for the pieces to decompress with.
    pub const MEMORY: u64 = 320 << 10;
    /// The parameters that a client asks for: any that the server likes.
    pub(super) const OFFER: HeaderValue =
        HeaderValue::from_static("permessage-deflate; client_max_window_bits");

    /// Accepts the first offer of a client that a server can keep. Returns the value of the header
    /// that says so, too.
    pub(super) fn accept(headers: &HeaderMap) -> Option<(Self, HeaderValue)> {
        extensions(headers).find_map(|(name, params)| {
            let mut this = Self { window: Some(15), sends_alone: false, receives_alone: false };
            let mut answer = NAME.to_owned();
            if name != NAME {
                return None;
            }
            for (name, value) in params {
                match (name, value) {
                    ("server_no_context_takeover", None) => {
                        this.sends_alone = true;
                        answer.push_str("; server_no_context_takeover");
                    }
                    ("client_no_context_takeover", None) => {
                        this.receives_alone = true;
                        answer.push_str("; client_no_context_takeover");
                    }
                    ("server_max_window_bits", Some(value)) => {
                        this.window = Some(bits(value).filter(|bits| *bits >= 9)?);
                        answer.push_str("; server_max_window_bits=");
                        answer.push_str(value);
                    }
                    // The largest window is always accepted.
                    ("client_max_window_bits", None) => {}
                    ("client_max_window_bits", Some(value)) => {
                        bits(value)?;
                    }
                    _ => return None,
                }
            }
            Some((this, HeaderValue::from_str(&answer).ok()?))
        })
    }

    /// Reads the answer of a server to [`Deflate::OFFER`]. Returns `None` if it does not compress.
    pub(super) fn accepted(headers: &HeaderMap) -> Result<Option<Self>, BadHandshake> {
        let mut found = None;
        for (name, params) in extensions(headers) {
            if name != NAME || found.is_some() {
                return Err(BadHandshake);
            }
            let mut this = Self { window: Some(15), sends_alone: false, receives_alone: false };
            for (name, value) in params {
                match (name, value) {
                    ("server_no_context_takeover", None) => this.receives_alone = true,
                    ("client_no_context_takeover", None) => this.sends_alone = true,
                    ("server_max_window_bits", Some(value)) => {
                        bits(value).ok_or(BadHandshake)?;
                    }
                    ("client_max_window_bits", Some(value)) => {
                        let bits = bits(value).ok_or(BadHandshake)?;
                        // The library has no window that small.
                        this.window = Some(bits).filter(|bits| *bits >= 9);
                    }
                    _ => return Err(BadHandshake),
                }
            }
            found = Some(this);
        }
        Ok(found)
    }

    /// Returns the decompression of what arrives.
    pub(super) fn inflater(self) -> Inflater {
        Inflater { inner: Decompress::new(false), alone: self.receives_alone, is_full: false }
    }

    /// Returns the compression of what is sent, if there is one.
    pub(super) fn deflater(self) -> Option<Deflater> {
        let inner = Compress::new_with_window_bits(Compression::fast(), false, self.window?);
        Some(Deflater { inner, alone: self.sends_alone })
    }

    /// Returns the parameters as they are for the other side of a connection.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        let Self { sends_alone, receives_alone, .. } = self;
        Self { window: Some(15), sends_alone: receives_alone, receives_alone: sends_alone }
    }
}

impl Inflater {
    /// Decompresses the next piece of a message. Returns `None` if more input is needed.
    pub(super) fn next(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, ReadError> {
        while self.is_full || !input.is_empty() {
            let mut piece = Vec::with_capacity(PIECE);
            let before = self.inner.total_in();
            let status = self.inner.decompress_vec(input, &mut piece, FlushDecompress::Sync);
            let status = status.map_err(|_| ReadError::Protocol)?;
            let read = (self.inner.total_in() - before) as usize;
            input.advance(read.min(input.len()));
            self.is_full = piece.len() == PIECE;
            match status {
                // A final block. Another one begins with an empty window.
                Status::StreamEnd => {
                    self.inner.reset(false);
                    self.is_full = false;
                }
                Status::Ok | Status::BufError if read == 0 && piece.is_empty() => {
                    self.is_full = false;
                    if !input.is_empty() {
                        return Err(ReadError::Protocol);
                    }
                }
                Status::Ok | Status::BufError => {}
            }
            if !piece.is_empty() {
                return Ok(Some(piece.into()));
            }
        }
        Ok(None)
    }

    /// Returns the input that ends a message.
    pub(super) const fn tail() -> Bytes {
        Bytes::from_static(&TAIL)
    }

    /// Ends a message.
    pub(super) fn end(&mut self) {
        if self.alone {
            self.inner.reset(false);
        }
    }
}

impl Deflater {
    /// Compresses a message.
    pub(super) fn message(&mut self, pieces: &[Bytes]) -> std::io::Result<Vec<u8>> {
        let length: usize = pieces.iter().map(Bytes::len).sum();
        let mut compressed = Vec::with_capacity(length / 2 + 64);
        for (at, piece) in pieces.iter().enumerate() {
            let is_last = at + 1 == pieces.len();
            let flush = if is_last { FlushCompress::Sync } else { FlushCompress::None };
            let mut rest = &piece[..];
            loop {
                let before = self.inner.total_in();
                let status = self.inner.compress_vec(rest, &mut compressed, flush);
                status.map_err(std::io::Error::other)?;
                rest = &rest[(self.inner.total_in() - before) as usize..];
                // With room left, everything was written.
                if rest.is_empty() && compressed.len() < compressed.capacity() {
                    break;
                }
                compressed.reserve(4 << 10);
            }
        }
        if compressed.ends_with(&TAIL) {
            compressed.truncate(compressed.len() - TAIL.len());
        }
        if self.alone {
            self.inner.reset();
        }
        Ok(compressed)
    }
}

/// Returns the extensions in a head: each with its parameters.
fn extensions(
    headers: &HeaderMap,
) -> impl Iterator<Item = (&str, impl Iterator<Item = (&str, Option<&str>)>)> {
    let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
    let lists = values.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    lists.map(|extension| {
        let mut words = extension.split(';').map(str::trim);
        let name = words.next().unwrap_or_default();
        let params = words.filter(|word| !word.is_empty()).map(|word| match word.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
            None => (word, None),
        });
        (name, params)
    })
}

/// Parses the size of a window.
fn bits(value: &str) -> Option<u8> {
    value.parse().ok().filter(|bits| (8..=15).contains(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_static(value));
        headers
    }

    fn inflated(inflater: &mut Inflater, compressed: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        for mut input in [Bytes::copy_from_slice(compressed), Inflater::tail()] {
            while let Some(piece) = inflater.next(&mut input).unwrap() {
                all.extend_from_slice(&piece);
            }
        }
        inflater.end();
        all
    }

    /// The examples of RFC 7692, section 7.2.3.
    #[test]
    fn the_examples_of_the_standard_are_read() {
        let deflate = Deflate::accepted(&headers("permessage-deflate")).unwrap().unwrap();
        let mut inflater = deflate.inflater();
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflated(&mut inflater, &hello), b"Hello");
        // The second refers to the first.
        assert_eq!(inflated(&mut inflater, &[0xf2, 0x00, 0x11, 0x00, 0x00]), b"Hello");
        // Without compression, with a final block, and in two blocks.
        let stored = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
        assert_eq!(inflated(&mut inflater, &stored), b"Hello");
        let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        assert_eq!(inflated(&mut inflater, &last), b"Hello");
        let two = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflated(&mut inflater, &two), b"Hello");
    }

    #[test]
    fn what_is_compressed_is_read_again() {
        for offer in ["permessage-deflate", "permessage-deflate; server_no_context_takeover"] {
            let (server, _) = Deflate::accept(&headers(offer)).unwrap();
            let mut deflater = server.deflater().unwrap();
            let mut inflater = server.mirrored().inflater();
            for length in [1, 63, 5000, 200_000, 3] {
                let text: Vec<u8> =
                    (0..length).map(|at: u32| (at.wrapping_mul(at) >> 5) as u8).collect();
                let pieces = [
                    Bytes::copy_from_slice(&text[..length as usize / 2]),
                    Bytes::copy_from_slice(&text[length as usize / 2..]),
                ];
                let compressed = deflater.message(&pieces).unwrap();
                assert_eq!(inflated(&mut inflater, &compressed), text, "{offer} {length}");
            }
        }
    }

    #[test]
    fn offers_are_answered_by_the_parameters_that_can_be_kept() {
        for (offer, answer) in [
            ("permessage-deflate; client_max_window_bits", Some("permessage-deflate")),
            ("x-other, permessage-deflate", Some("permessage-deflate")),
            (
                "permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=\"10\"",
                Some("permessage-deflate; server_max_window_bits=10"),
            ),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
            ),
            ("permessage-deflate; strange", None),
            ("permessage-deflate; client_max_window_bits=16", None),
            ("x-webkit-deflate-frame", None),
        ] {
            let accepted = Deflate::accept(&headers(offer));
            let accepted = accepted.as_ref().map(|(_, answer)| answer.to_str().unwrap());
            assert_eq!(accepted, answer, "{offer}");
        }
    }

    #[test]
    fn an_answer_that_was_not_offered_is_an_error() {
        for wrong in
            ["x-other", "permessage-deflate; strange", "permessage-deflate, permessage-deflate"]
        {
            assert!(Deflate::accepted(&headers(wrong)).is_err(), "{wrong}");
        }
        assert_eq!(Deflate::accepted(&HeaderMap::new()).unwrap(), None);
        let small = headers("permessage-deflate; client_max_window_bits=8");
        assert!(Deflate::accepted(&small).unwrap().unwrap().deflater().is_none());
    }
}
