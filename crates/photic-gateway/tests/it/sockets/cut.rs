//! Messages that are cut: into several frames, with pings in between, and each frame into several
//! writes.

use std::io;

use bytes::Bytes;
use photic_net::websocket::{Close, Deflate, Kind, Role, Writer};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Numbers that look random and are the same in every run.
pub(super) struct Numbers(pub(super) u32);

impl Numbers {
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

/// Writes messages whole if they may be compressed, and cut otherwise.
pub(super) enum Sender<W> {
    Whole(Writer<W>),
    Cut(CutWriter<W>),
}

/// Writes messages of text in many frames.
pub(super) struct CutWriter<W> {
    to: W,
    role: Role,
    numbers: Numbers,
}

impl<W: AsyncWrite + Unpin> Sender<W> {
    pub(super) fn new(to: W, role: Role, deflate: Option<Deflate>) -> Self {
        if deflate.is_some() {
            Self::Whole(Writer::new(to, role, deflate))
        } else {
            Self::Cut(CutWriter { to, role, numbers: Numbers(1) })
        }
    }

    pub(super) async fn text(&mut self, text: Bytes) -> io::Result<()> {
        match self {
            Self::Whole(writer) => writer.message(Kind::Text, &[text]).await,
            Self::Cut(writer) => writer.text(&text).await,
        }
    }

    pub(super) async fn ping(&mut self, payload: Bytes) -> io::Result<()> {
        match self {
            Self::Whole(writer) => writer.ping(payload).await,
            Self::Cut(writer) => writer.frame(0x89, &payload).await,
        }
    }

    pub(super) async fn pong(&mut self, payload: Bytes) -> io::Result<()> {
        match self {
            Self::Whole(writer) => writer.pong(payload).await,
            Self::Cut(writer) => writer.frame(0x8a, &payload).await,
        }
    }

    pub(super) async fn close(&mut self, close: Option<&Close>) -> io::Result<()> {
        match self {
            Self::Whole(writer) => writer.close(close).await,
            Self::Cut(writer) => {
                let told = close.map(|close| {
                    [close.code.to_be_bytes().as_slice(), close.reason.as_bytes()].concat()
                });
                writer.frame(0x88, &told.unwrap_or_default()).await
            }
        }
    }

    /// Begins a message and stops in the middle of a frame. Writers of whole messages write nothing.
    pub(super) async fn begin(&mut self, text: &[u8]) -> io::Result<()> {
        let Self::Cut(writer) = self else { return Ok(()) };
        writer.frame(0x01, text).await?;
        let frame = writer.framed(0x80, text);
        writer.to.write_all(&frame[..frame.len() - 1]).await?;
        writer.to.flush().await
    }
}

impl<W: AsyncWrite + Unpin> CutWriter<W> {
    async fn text(&mut self, text: &[u8]) -> io::Result<()> {
        let (mut opcode, mut rest) = (0x01, text);
        loop {
            let most = [2, 10, 1_000, 80_000][self.numbers.below(4) as usize];
            let size = self.numbers.below(most) as usize;
            let (now, later) = rest.split_at(size.min(rest.len()));
            let last = if later.is_empty() { 0x80 } else { 0 };
            self.frame(opcode | last, now).await?;
            if later.is_empty() {
                return Ok(());
            }
            if self.numbers.below(8) == 0 {
                self.frame(0x89, b"within").await?;
            }
            (opcode, rest) = (0, later);
        }
    }

    /// Writes a frame in two pieces.
    async fn frame(&mut self, first: u8, payload: &[u8]) -> io::Result<()> {
        let frame = self.framed(first, payload);
        let length = u32::try_from(frame.len()).unwrap();
        let (one, other) = frame.split_at(self.numbers.below(length) as usize);
        self.to.write_all(one).await?;
        self.to.flush().await?;
        tokio::task::yield_now().await;
        self.to.write_all(other).await?;
        self.to.flush().await
    }

    /// Returns a frame with this first byte.
    fn framed(&mut self, first: u8, payload: &[u8]) -> Vec<u8> {
        let masks = if matches!(self.role, Role::Client) { 0x80 } else { 0 };
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..126 => frame.push(masks | length as u8),
            length @ 126..0x1_0000 => {
                frame.push(masks | 0x7e);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(masks | 0x7f);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        if masks == 0 {
            frame.extend_from_slice(payload);
        } else if payload.len() > 1000 {
            // A mask of zeros leaves them as they are: byte by byte, tests take long.
            frame.extend_from_slice(&[0; 4]);
            frame.extend_from_slice(payload);
        } else {
            let mask = self.numbers.below(1 << 24).to_be_bytes();
            frame.extend(mask);
            frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        }
        frame
    }
}
