//! Gathers the messages of one side of a socket, within the memory of the caller.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use photic::Base64Runs;
use photic_net::websocket::{Close, Connection, Kind, Part, ReadError, Reader};
use tokio::io::ReadHalf;
use tokio::time::timeout;

use super::activity::Activity;
use crate::http::Body;
use crate::memory::{Buffer, Buffers, NoRoom, Share, Use};

/// Bytes up to which a message is not charged while it is read and passed on. Each side has one of
/// them at a time, and the socket pays for both when it is opened.
pub(super) const SMALL: usize = 64 << 10;

/// The messages of one side.
#[derive(Debug)]
pub(super) struct Messages {
    reader: Reader<ReadHalf<Connection>>,
    buffers: Arc<Buffers>,
    share: Share,
    /// The longest pause within a message.
    idle: Duration,
    /// The beginning of a message that may be complete with it: the end of a compressed message is
    /// known only after its last byte.
    first: Option<Bytes>,
    /// The message that is arriving.
    gathered: Option<(Buffer, Base64Runs)>,
    /// Notes each part as a sign of life.
    activity: Option<Arc<Activity>>,
}

/// A message or a control frame of one side.
#[derive(Debug)]
pub(super) enum Arrived {
    Message(Kind, Body),
    Ping(Bytes),
    Pong(Bytes),
    Close(Option<Close>),
}

/// The reason for which a side cannot be read further.
#[derive(Debug)]
pub(super) enum Fault {
    Read(ReadError),
    /// It sent a part of a message, and nothing more.
    Slow,
    /// There is no memory for its message.
    NoRoom,
}

impl Messages {
    /// Reads the messages of a connection.
    pub(super) const fn new(
        reader: Reader<ReadHalf<Connection>>,
        buffers: Arc<Buffers>,
        share: Share,
        idle: Duration,
    ) -> Self {
        Self { reader, buffers, share, idle, first: None, gathered: None, activity: None }
    }

    /// Notes each part and control frame as a sign of life.
    pub(super) fn noting(mut self, activity: &Arc<Activity>) -> Self {
        self.activity = Some(Arc::clone(activity));
        self
    }

    /// Returns the connection, to read and drop the rest of it.
    pub(super) fn into_rest(self) -> ReadHalf<Connection> {
        self.reader.into_inner()
    }

    /// Waits for the next message or control frame. Control frames may come within a message.
    pub(super) async fn next(&mut self) -> Result<Arrived, Fault> {
        loop {
            let part = if self.gathered.is_none() && self.first.is_none() {
                self.reader.next().await
            } else {
                // A message that has begun must go on.
                timeout(self.idle, self.reader.next()).await.map_err(|_| Fault::Slow)?
            };
            if let Some(activity) = &self.activity {
                activity.touch();
            }
            let (kind, bytes, is_last) = match part.map_err(Fault::Read)? {
                Part::Data { kind, bytes, is_last } => (kind, bytes, is_last),
                Part::Ping(payload) => return Ok(Arrived::Ping(payload)),
                Part::Pong(payload) => return Ok(Arrived::Pong(payload)),
                Part::Close(close) => return Ok(Arrived::Close(close)),
            };
            let mut first = self.first.take();
            if self.gathered.is_none() && bytes.len() <= SMALL {
                match first.take() {
                    None if is_last => return Ok(Arrived::Message(kind, bytes.into())),
                    None => {
                        self.first = Some(bytes);
                        continue;
                    }
                    Some(whole) if is_last && bytes.is_empty() => {
                        return Ok(Arrived::Message(kind, whole.into()));
                    }
                    Some(begun) => first = Some(begun),
                }
            }
            let (buffer, runs) = self.gathered.get_or_insert_with(|| {
                let charge = Some(self.share.nothing(Use::Bodies));
                (self.buffers.take(4 * SMALL, charge), Base64Runs::default())
            });
            for piece in first.into_iter().chain([bytes]) {
                buffer.extend(&piece).await.map_err(|NoRoom| Fault::NoRoom)?;
                runs.feed(&piece);
            }
            if is_last && let Some((buffer, runs)) = self.gathered.take() {
                // A small message is charged by the step while it arrives, and not beyond that.
                if buffer.len() <= SMALL {
                    let small = Bytes::copy_from_slice(buffer.as_ref());
                    return Ok(Arrived::Message(kind, Body::new(small, runs)));
                }
                return Ok(Arrived::Message(kind, Body::new(buffer.freeze(), runs)));
            }
        }
    }
}
