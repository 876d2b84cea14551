//! Reads the messages of a connection.

use std::io::Cursor;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use super::deflate::{Deflate, Inflater};
use super::frame::{Close, Kind, Part, ReadError, Role};
use super::mask;
use super::utf8::Utf8Check;

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Maximum bytes of the payload of a control frame.
const MAX_CONTROL: u64 = 125;

/// Reads one direction of a connection.
#[derive(Debug)]
pub struct Reader<R> {
    io: R,
    role: Role,
    limit: u64,
    buffer: BytesMut,
    inflater: Option<Inflater>,
    /// The frame whose payload is arriving.
    frame: Option<Frame>,
    /// The message whose frames are arriving.
    message: Option<Message>,
}

#[derive(Debug)]
struct Frame {
    opcode: OpCode,
    is_final: bool,
    mask: Option<[u8; 4]>,
    /// Bytes of the payload that were taken.
    taken: u64,
    length: u64,
}

#[derive(Debug)]
struct Message {
    kind: Kind,
    is_compressed: bool,
    /// Bytes of its payload, as sent.
    sent: u64,
    /// Bytes of it, decompressed.
    length: u64,
    text: Utf8Check,
    /// Compressed bytes that were not read yet.
    input: Bytes,
    /// Set if the tail of a compressed message is in `input`.
    has_tail: bool,
    /// Set if all of its frames have arrived.
    has_arrived: bool,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Creates a reader. Messages of more than `limit` bytes are an error.
    pub fn new(io: R, role: Role, deflate: Option<Deflate>, limit: u64) -> Self {
        Self {
            io,
            role,
            limit,
            buffer: BytesMut::new(),
            inflater: deflate.map(Deflate::inflater),
            frame: None,
            message: None,
        }
    }

    /// Returns the connection, to read the rest of it otherwise.
    pub fn into_inner(self) -> R {
        self.io
    }

    /// Returns the next part. A call that is dropped loses nothing.
    ///
    /// # Errors
    ///
    /// Fails if the connection ends or breaks the protocol, or if a message is too large. It cannot be
    /// read further after that.
    pub async fn next(&mut self) -> Result<Part, ReadError> {
        loop {
            if let Some(part) = self.taken()? {
                return Ok(part);
            }
            self.buffer.reserve(CHUNK);
            if self.io.read_buf(&mut self.buffer).await? == 0 {
                return Err(ReadError::Ended);
            }
        }
    }

    /// Returns the next part of what has arrived.
    fn taken(&mut self) -> Result<Option<Part>, ReadError> {
        loop {
            if let Some(part) = self.message_part()? {
                return Ok(Some(part));
            }
            if self.frame.is_none() && !self.begin_frame()? {
                return Ok(None);
            }
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let left = frame.length - frame.taken;
            if let OpCode::Control(control) = frame.opcode {
                if (self.buffer.len() as u64) < left {
                    return Ok(None);
                }
                let payload = take(&mut self.buffer, frame, left);
                self.frame = None;
                return control_part(control, payload).map(Some);
            }
            let now = left.min(self.buffer.len() as u64);
            if now == 0 && left > 0 {
                return Ok(None);
            }
            let payload = take(&mut self.buffer, frame, now);
            let is_end = frame.taken == frame.length;
            let is_final = frame.is_final && is_end;
            if is_end {
                self.frame = None;
            }
            let message = self.message.as_mut().ok_or(ReadError::Protocol)?;
            message.has_arrived = is_final;
            if message.is_compressed {
                message.input = payload;
                continue;
            }
            if payload.is_empty() && !is_final {
                continue;
            }
            return self.piece(payload, is_final).map(Some);
        }
    }

    /// Returns the next decompressed part of the message that is arriving.
    fn message_part(&mut self) -> Result<Option<Part>, ReadError> {
        loop {
            let Some(message) = self.message.as_mut().filter(|one| one.is_compressed) else {
                return Ok(None);
            };
            let Some(inflater) = &mut self.inflater else { return Err(ReadError::Protocol) };
            if let Some(piece) = inflater.next(&mut message.input)? {
                return self.piece(piece, false).map(Some);
            }
            if !message.has_arrived {
                return Ok(None);
            }
            if message.has_tail {
                inflater.end();
                return self.piece(Bytes::new(), true).map(Some);
            }
            message.input = Inflater::tail();
            message.has_tail = true;
        }
    }

    /// Returns a piece of the message, after it was checked.
    fn piece(&mut self, bytes: Bytes, is_last: bool) -> Result<Part, ReadError> {
        let message = self.message.as_mut().ok_or(ReadError::Protocol)?;
        message.length += bytes.len() as u64;
        if message.length > self.limit {
            return Err(ReadError::TooLarge { limit: self.limit });
        }
        let kind = message.kind;
        if kind == Kind::Text
            && !(message.text.feed(&bytes) && (!is_last || message.text.may_end()))
        {
            return Err(ReadError::BadText);
        }
        if is_last {
            self.message = None;
        }
        Ok(Part::Data { kind, bytes, is_last })
    }

    /// Reads the header of the next frame. Returns `false` if it has not arrived.
    fn begin_frame(&mut self) -> Result<bool, ReadError> {
        let mut cursor = Cursor::new(&self.buffer);
        let parsed = FrameHeader::parse(&mut cursor).map_err(|_| ReadError::Protocol)?;
        let Some((header, length)) = parsed else { return Ok(false) };
        let read = cursor.position() as usize;
        self.buffer.advance(read);
        let FrameHeader { is_final, rsv1, rsv2, rsv3, opcode, mask } = header;
        // Clients mask, servers do not.
        let is_bad = rsv2 || rsv3 || mask.is_some() != (self.role == Role::Server);
        let is_bad = is_bad
            || match opcode {
                OpCode::Control(_) => rsv1 || !is_final || length > MAX_CONTROL,
                OpCode::Data(Data::Continue) => rsv1 || self.message.is_none(),
                OpCode::Data(_) => (rsv1 && self.inflater.is_none()) || self.message.is_some(),
            };
        if is_bad {
            return Err(ReadError::Protocol);
        }
        if let OpCode::Data(data) = opcode {
            let message = self.message.get_or_insert_with(|| Message {
                kind: if data == Data::Text { Kind::Text } else { Kind::Binary },
                is_compressed: rsv1,
                sent: 0,
                length: 0,
                text: Utf8Check::default(),
                input: Bytes::new(),
                has_tail: false,
                has_arrived: false,
            });
            message.sent = message.sent.saturating_add(length);
            if message.sent > self.limit {
                return Err(ReadError::TooLarge { limit: self.limit });
            }
        }
        self.frame = Some(Frame { opcode, is_final, mask, taken: 0, length });
        Ok(true)
    }
}

/// Takes bytes of the payload of a frame, without its mask.
fn take(buffer: &mut BytesMut, frame: &mut Frame, length: u64) -> Bytes {
    let mut bytes = buffer.split_to(length as usize);
    if let Some(mask) = frame.mask {
        mask::apply(&mut bytes, mask, (frame.taken % 4) as usize);
    }
    frame.taken += length;
    bytes.freeze()
}

fn control_part(control: Control, payload: Bytes) -> Result<Part, ReadError> {
    match control {
        Control::Ping => Ok(Part::Ping(payload)),
        Control::Pong => Ok(Part::Pong(payload)),
        Control::Close => Close::parse(&payload).map(Part::Close),
        Control::Reserved(_) => Err(ReadError::Protocol),
    }
}
