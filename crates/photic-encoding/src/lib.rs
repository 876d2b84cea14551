//! Content encodings of HTTP bodies: `gzip`, `deflate`, `br` and `zstd`, several in a row included,
//! decoded with bounds on size, ratio and memory.
//!
//! ```
//! use bytes::Bytes;
//! use photic_encoding::{Decoding, codings};
//!
//! let mut headers = http::HeaderMap::new();
//! headers.insert("content-encoding", "identity".parse()?);
//! let codings = codings(&headers).unwrap_or_default();
//! let body = Bytes::from_static(b"{}");
//! let mut piece = [0; 16];
//! let read = Decoding::new(&body, &codings, 1 << 20)?.next(&mut piece)?;
//! assert_eq!(&piece[..read], b"{}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A request body is decoded as a whole ([`Decoding`]), a reply piece by piece ([`ReplyDecoder`]).
//!
//! # What it does not do
//!
//! It encodes nothing, does no I/O, and holds no more than the windows of its decoders.

use std::io::{self, BufReader, Read, Write};
use std::ops::RangeInclusive;

use brotli_decompressor::{Decompressor, DecompressorWriter};
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Maximum number of encodings in a row.
const MAX_CODINGS: usize = 4;
/// Maximum window of zstd, which RFC 9659 sets for content encodings. Levels up to 19 take no more.
const MAX_WINDOW: u64 = 8 << 20;
/// First byte of a brotli stream with a window of more than 16 MiB. RFC 7932 has no such windows, but
/// the decoder knows them, and would take up to a gigabyte for one.
const LARGE_WINDOW: u8 = 0x11;
/// Decoded bytes up to which any ratio is allowed.
const FREE_BYTES: u64 = 4 << 20;
/// Maximum ratio of decoded to encoded bytes beyond that. Conversations that repeat a picture in
/// every turn reach a few dozen.
const MAX_RATIO: u64 = 500;
/// Maximum bytes of all skippable frames of a zstd body. The ratio does not count them.
const MAX_SKIPPED: u64 = 1 << 20;
/// Maximum bytes that one piece of a reply may become.
const MAX_PIECE: usize = 16 << 20;

/// One content encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, with or without the header of zlib.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

/// The reason for which a body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not what the header says.
    #[error("the body is not in the encoding that its header names")]
    Corrupt,
    /// The decoded body is too large, by itself or for its encoded size.
    #[error("the decoded body is too large")]
    TooLarge,
}

impl Coding {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "br" => Self::Brotli,
            "zstd" => Self::Zstd,
            _ => return None,
        })
    }

    /// Returns the memory that is charged for its decoder: room for the largest window, and more.
    const fn memory(self) -> u64 {
        match self {
            Self::Gzip | Self::Deflate => 64 << 10,
            Self::Brotli => 17 << 20,
            Self::Zstd => 2 * MAX_WINDOW,
        }
    }

    fn reader<'r>(
        self,
        mut bytes: impl Read + Send + 'r,
    ) -> Result<Box<dyn Read + Send + 'r>, DecodeError> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(bytes))),
            Self::Deflate => {
                // Most clients send the zlib format that the name stands for, some send it bare.
                let mut start = [0; 2];
                let read = read_full(&mut bytes, &mut start).map_err(|_| DecodeError::Corrupt)?;
                let is_zlib = start[0] & 0x0f == 8 && u16::from_be_bytes(start) % 31 == 0;
                let whole = io::Cursor::new(start).take(read as u64).chain(bytes);
                if is_zlib {
                    Box::new(ZlibDecoder::new(BufReader::new(whole)))
                } else {
                    Box::new(DeflateDecoder::new(BufReader::new(whole)))
                }
            }
            Self::Brotli => {
                let mut start = [0; 1];
                let read = read_full(&mut bytes, &mut start).map_err(|_| DecodeError::Corrupt)?;
                if start[0] == LARGE_WINDOW {
                    return Err(DecodeError::Corrupt);
                }
                let whole = io::Cursor::new(start).take(read as u64).chain(bytes);
                Box::new(Decompressor::new(whole, 64 << 10))
            }
            Self::Zstd => Box::new(ZstdFrames::new(bytes)),
        })
    }
}

/// Returns the encodings of a body in the order in which they were applied, or `None` if one of
/// them is unknown or there are too many.
pub fn codings(headers: &HeaderMap) -> Option<Vec<Coding>> {
    let mut all = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().ok()?.split(',').map(str::trim) {
            if name.is_empty() || name.eq_ignore_ascii_case("identity") {
                continue;
            }
            all.push(Coding::from_name(name)?);
        }
    }
    (all.len() <= MAX_CODINGS).then_some(all)
}

/// A body that is being decoded, with bounds on size and ratio.
pub struct Decoding<'b> {
    reader: Box<dyn Read + Send + 'b>,
    encoded: u64,
    decoded: u64,
    limit: u64,
    memory: u64,
}

impl<'b> Decoding<'b> {
    /// Begins to decode a body that may become as long as `limit`.
    pub fn new(bytes: &'b Bytes, codings: &[Coding], limit: u64) -> Result<Self, DecodeError> {
        let mut reader: Box<dyn Read + Send + 'b> = Box::new(io::Cursor::new(bytes));
        for coding in codings.iter().rev() {
            reader = coding.reader(reader)?;
        }
        let memory = codings.iter().map(|coding| coding.memory()).sum();
        Ok(Self { reader, encoded: bytes.len() as u64, decoded: 0, limit, memory })
    }

    /// Returns the maximum memory that the decoders take.
    pub const fn memory(&self) -> u64 {
        self.memory
    }

    /// Decodes the next bytes. Returns their number, or 0 at the end.
    pub fn next(&mut self, piece: &mut [u8]) -> Result<usize, DecodeError> {
        let read = read_full(&mut self.reader, piece).map_err(|_| DecodeError::Corrupt)?;
        self.decoded += read as u64;
        let is_dense = self.decoded > FREE_BYTES && self.decoded / MAX_RATIO > self.encoded;
        if self.decoded > self.limit || is_dense {
            return Err(DecodeError::TooLarge);
        }
        Ok(read)
    }
}

/// Reads until the buffer is full or the reader ends.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// The frames of a zstd body, one after another. Skippable frames hold no part of it.
struct ZstdFrames<R: Read> {
    source: Option<BufReader<R>>,
    frame: Option<StreamingDecoder<ZstdSource<R>, FrameDecoder>>,
    /// Bytes that skippable frames may still have.
    skippable: u64,
}

/// The magic number of a frame, and the bytes after it.
type ZstdSource<R> = io::Chain<io::Take<io::Cursor<[u8; 4]>>, BufReader<R>>;

/// Magic numbers of skippable frames (RFC 8878, section 3.1.2).
const SKIPPABLE: RangeInclusive<u32> = 0x184d_2a50..=0x184d_2a5f;

impl<R: Read> ZstdFrames<R> {
    fn new(source: R) -> Self {
        Self { source: Some(BufReader::new(source)), frame: None, skippable: MAX_SKIPPED }
    }

    /// Skips a skippable frame, after its magic number.
    fn skip_frame(&mut self, source: &mut BufReader<R>) -> io::Result<()> {
        let mut length = [0; 4];
        source.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        // With its head of eight bytes, so that empty ones count, too.
        let left = self.skippable.checked_sub(length + 8);
        self.skippable = left.ok_or(io::ErrorKind::InvalidData)?;
        let skipped = io::copy(&mut source.take(length), &mut io::sink())?;
        if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 {
                    return Ok(read);
                }
                let source = self.frame.take().map(StreamingDecoder::into_inner);
                self.source = source.map(|source| source.into_inner().1);
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            let mut magic = [0; 4];
            let read = read_full(&mut source, &mut magic)?;
            if read == 0 {
                return Ok(0);
            }
            if read == magic.len() && SKIPPABLE.contains(&u32::from_le_bytes(magic)) {
                self.skip_frame(&mut source)?;
                self.source = Some(source);
                continue;
            }
            let whole = io::Cursor::new(magic).take(read as u64).chain(source);
            let frame = StreamingDecoder::new_with_max_window_size(whole, MAX_WINDOW);
            self.frame = Some(frame.map_err(io::Error::other)?);
        }
    }
}

/// Decodes a reply piece by piece.
pub struct ReplyDecoder(ReplyCoding);

enum ReplyCoding {
    Gzip(flate2::write::MultiGzDecoder<Pieces>),
    Deflate(flate2::write::ZlibDecoder<Pieces>),
    /// With `true` until its first byte was seen.
    Brotli(Box<DecompressorWriter<Pieces>>, bool),
}

/// Collects decoded bytes, up to a maximum.
#[derive(Default)]
struct Pieces(Vec<u8>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_PIECE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReplyDecoder {
    /// Creates the decoder of a reply with this encoding. Returns `None` if it is not supported.
    pub fn new(coding: Coding) -> Option<Self> {
        Some(Self(match coding {
            Coding::Gzip => {
                ReplyCoding::Gzip(flate2::write::MultiGzDecoder::new(Pieces::default()))
            }
            Coding::Deflate => {
                ReplyCoding::Deflate(flate2::write::ZlibDecoder::new(Pieces::default()))
            }
            Coding::Brotli => {
                let decoder = DecompressorWriter::new(Pieces::default(), 64 << 10);
                ReplyCoding::Brotli(Box::new(decoder), true)
            }
            Coding::Zstd => return None,
        }))
    }

    /// Decodes a piece, and returns the bytes that are complete.
    pub fn feed(&mut self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let pieces = match &mut self.0 {
            ReplyCoding::Gzip(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
            ReplyCoding::Deflate(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
            ReplyCoding::Brotli(decoder, is_new) => {
                if *is_new && piece.first() == Some(&LARGE_WINDOW) {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                *is_new &= piece.is_empty();
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
        };
        Ok(std::mem::take(&mut pieces.0))
    }
}

impl std::fmt::Debug for ReplyDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReplyDecoder")
    }
}

impl std::fmt::Debug for Decoding<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoding").field("decoded", &self.decoded).finish_non_exhaustive()
    }
}
