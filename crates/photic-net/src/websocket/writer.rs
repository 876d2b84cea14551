//! Writes the messages of a connection.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use super::deflate::{Deflate, Deflater};
use super::frame::{Close, Kind, Role};
use super::mask;

/// Bytes that are copied at once, to be masked or written together.
const CHUNK: usize = 64 << 10;
/// Messages outside of these sizes are not compressed. Short ones gain nothing. Long ones are mostly
/// base64, which gains a quarter for more time than sending it takes.
const COMPRESSED: std::ops::Range<usize> = 64..(1 << 20);

/// Writes one direction of a connection.
///
/// A call that is dropped before it is done may have written a part of a frame. Every later call fails.
#[derive(Debug)]
pub struct Writer<W> {
    io: W,
    role: Role,
    deflate: Option<Deflate>,
    /// Created with the first message that is compressed.
    deflater: Option<Deflater>,
    scratch: Vec<u8>,
    /// Set while a frame is written. If it stays so, the frame was not finished.
    is_writing: bool,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Creates a writer.
    pub fn new(io: W, role: Role, deflate: Option<Deflate>) -> Self {
        Self { io, role, deflate, deflater: None, scratch: Vec::new(), is_writing: false }
    }

    /// Writes a message whose bytes are in several pieces, as one frame.
    pub async fn message(&mut self, kind: Kind, pieces: &[Bytes]) -> io::Result<()> {
        let data = match kind {
            Kind::Text => Data::Text,
            Kind::Binary => Data::Binary,
        };
        let length: usize = pieces.iter().map(Bytes::len).sum();
        if COMPRESSED.contains(&length)
            && let Some(deflate) = self.deflate
        {
            if self.deflater.is_none() {
                self.deflater = deflate.deflater();
            }
            if let Some(deflater) = &mut self.deflater {
                let compressed = Bytes::from(deflater.message(pieces)?);
                return self.frame(OpCode::Data(data), true, &[compressed]).await;
            }
        }
        self.frame(OpCode::Data(data), false, pieces).await
    }

    /// Writes a ping.
    pub async fn ping(&mut self, payload: Bytes) -> io::Result<()> {
        self.frame(OpCode::Control(Control::Ping), false, &[payload]).await
    }

    /// Writes a pong.
    pub async fn pong(&mut self, payload: Bytes) -> io::Result<()> {
        self.frame(OpCode::Control(Control::Pong), false, &[payload]).await
    }

    /// Writes a close frame. Nothing may be written after it.
    pub async fn close(&mut self, close: Option<&Close>) -> io::Result<()> {
        let payload = close.map(Close::payload).unwrap_or_default();
        self.frame(OpCode::Control(Control::Close), false, &[payload.into()]).await
    }

    /// Ends the connection in this direction.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.io.shutdown().await
    }

    async fn frame(&mut self, opcode: OpCode, rsv1: bool, pieces: &[Bytes]) -> io::Result<()> {
        if self.is_writing {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.is_writing = true;
        let length: usize = pieces.iter().map(Bytes::len).sum();
        let mask = match self.role {
            Role::Server => None,
            Role::Client => {
                let mut mask = [0; 4];
                getrandom::fill(&mut mask).map_err(io::Error::other)?;
                Some(mask)
            }
        };
        let header = FrameHeader { rsv1, opcode, mask, ..FrameHeader::default() };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        header.format(length as u64, &mut scratch).map_err(io::Error::other)?;
        let mut offset = 0;
        for piece in pieces {
            if mask.is_none() && piece.len() >= CHUNK {
                self.io.write_all(&scratch).await?;
                scratch.clear();
                self.io.write_all(piece).await?;
                continue;
            }
            for part in piece.chunks(CHUNK) {
                let at = scratch.len();
                scratch.extend_from_slice(part);
                if let Some(mask) = mask {
                    mask::apply(&mut scratch[at..], mask, offset);
                }
                offset += part.len();
                if scratch.len() >= CHUNK {
                    self.io.write_all(&scratch).await?;
                    scratch.clear();
                }
            }
        }
        self.io.write_all(&scratch).await?;
        scratch.clear();
        self.scratch = scratch;
        self.io.flush().await?;
        self.is_writing = false;
        Ok(())
    }
}
