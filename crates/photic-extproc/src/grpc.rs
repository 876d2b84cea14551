//! The framing of gRPC over HTTP/2: messages with a length before them, and a status in the trailers.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use prost::Message;

use crate::memory::{BodyBudget, Charge};

/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;
/// Bytes that a message may have beside the body in it: headers, above all.
const BESIDE_BODY: usize = 256 << 10;
/// Bytes of a message that is read even if there is no memory for it: a chunk has to be passed on.
const MAX_UNCHARGED: usize = 256 << 10;

/// The statuses of gRPC that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok = 0,
    InvalidArgument = 3,
    ResourceExhausted = 8,
    Unimplemented = 12,
    Unavailable = 14,
}

/// A message that arrived.
#[derive(Debug)]
pub(crate) enum Arrived {
    /// A message, and the memory it is charged to; `None` if there was none, and the message is small.
    Message(Bytes, Option<Charge>),
    /// A message that was too large was skipped.
    TooLarge,
    /// A large message for which there was no memory was skipped.
    NoMemory,
}

/// Reads the messages of a stream.
#[derive(Debug)]
pub(crate) struct MessageReader {
    body: Incoming,
    buffer: BytesMut,
}

impl MessageReader {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, buffer: BytesMut::new() }
    }

    /// Returns the next message, or `None` at the end of the stream. A message with a body of more
    /// than `max_body` bytes is skipped.
    ///
    /// # Errors
    ///
    /// Fails if the stream breaks off or is not gRPC.
    pub(crate) async fn next(
        &mut self,
        memory: &BodyBudget,
        max_body: usize,
    ) -> Result<Option<Arrived>, Status> {
        while self.buffer.len() < PREFIX {
            if !self.more().await? {
                let is_end = self.buffer.is_empty();
                return if is_end { Ok(None) } else { Err(Status::InvalidArgument) };
            }
        }
        let is_compressed = self.buffer.get_u8() != 0;
        if is_compressed {
            return Err(Status::Unimplemented);
        }
        let length = self.buffer.get_u32() as usize;
        if length > max_body.saturating_add(BESIDE_BODY) {
            self.skip(length).await?;
            return Ok(Some(Arrived::TooLarge));
        }
        let mut charge = Some(Charge::default());
        loop {
            let arrived = self.buffer.len().min(length);
            if let Some(own) = &mut charge
                && !memory.charge(own, arrived).await
            {
                charge = None;
                if length > MAX_UNCHARGED {
                    self.skip(length).await?;
                    return Ok(Some(Arrived::NoMemory));
                }
            }
            if arrived == length {
                return Ok(Some(Arrived::Message(self.buffer.split_to(length).freeze(), charge)));
            }
            if !self.more().await? {
                return Err(Status::InvalidArgument);
            }
        }
    }

    /// Skips a message without keeping it.
    async fn skip(&mut self, length: usize) -> Result<(), Status> {
        let mut left = length;
        loop {
            let here = self.buffer.len().min(left);
            self.buffer.advance(here);
            left -= here;
            if left == 0 {
                return Ok(());
            }
            if !self.more().await? {
                return Err(Status::InvalidArgument);
            }
        }
    }

    /// Waits for more bytes. Returns `false` at the end of the stream.
    async fn more(&mut self) -> Result<bool, Status> {
        loop {
            match self.body.frame().await {
                None => return Ok(false),
                Some(Err(_)) => return Err(Status::Unavailable),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// Writes a message with its prefix.
pub(crate) fn data(message: &impl Message) -> Frame<Bytes> {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(PREFIX + length);
    bytes.put_u8(0);
    bytes.put_u32(length as u32);
    message.encode_raw(&mut bytes);
    Frame::data(bytes.freeze())
}

/// Writes the trailers that end a stream.
pub(crate) fn trailers(status: Status) -> Frame<Bytes> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(status as u16));
    Frame::trailers(trailers)
}
