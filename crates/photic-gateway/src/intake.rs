//! Request bodies on their way in: read into one buffer, bounded in size and time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::Body as _;
use hyper::body::Incoming;
use photic::json::Str;
use photic::retention::Retention;
use photic::{Finding, Stretches, Transcript, Wire};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::buffers::Buffers;
use crate::failure::Failure;
use crate::identity::Identity;
use crate::record::Recalled;
use crate::route::Asked;

/// Without a length, a body of a conversation is guessed to be this long; the buffer grows.
const UNKNOWN: usize = 64 << 10;

/// Bounds of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) bytes: u64,
    /// Between two pieces.
    pub(crate) idle: Duration,
}

/// A body that was read, and what was seen of it meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    stretches: Stretches,
    /// What its path said, where a wire says it there.
    pub(crate) asked: Asked,
    /// How long pictures stay in sight, where the caller says it for this request.
    pub(crate) retention: Option<Retention>,
    /// What is known about whoever sent it, and about the conversation.
    pub(crate) recalled: Arc<Recalled>,
    /// Whoever sent it.
    pub(crate) identity: Identity,
}

/// A body as a conversation, and what was found in it.
pub(crate) type Lifted<'b> = (Transcript<'b>, Vec<Finding>);

impl Body {
    pub(crate) fn lift(&self, wire: Wire) -> Lifted<'_> {
        let (mut transcript, findings) = photic::lift_knowing(wire, &self.bytes, &self.stretches);
        let settings = &mut transcript.settings;
        if let Some(model) = &self.asked.model {
            settings.model = Some(Str::plain(model.as_str()));
            if self.asked.stream {
                settings.shared.push(("stream", b"true"));
            }
        }
        (transcript, findings)
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, ..Self::default() }
    }
}

/// Reads a body whole.
pub(crate) async fn read(
    body: &mut Incoming,
    bounds: Bounds,
    buffers: &Arc<Buffers>,
) -> Result<Body, Failure> {
    let declared = body.size_hint().exact();
    let Some(first) = frame(body, bounds.idle).await? else { return Ok(Body::default()) };
    // Small bodies mostly come in one piece, which then is the buffer.
    if declared == Some(first.len() as u64) {
        return Ok(first.into());
    }
    let room = declared.map_or(UNKNOWN, |length| usize::try_from(length).unwrap_or(UNKNOWN));
    let mut buffer = buffers.take(room);
    let mut stretches = Stretches::default();
    buffer.extend(&first);
    stretches.feed(&first);
    drop(first);
    while let Some(piece) = frame(body, bounds.idle).await? {
        if (buffer.len() + piece.len()) as u64 > bounds.bytes {
            return Err(Failure::TooLarge { limit: bounds.bytes });
        }
        buffer.extend(&piece);
        // Now, while the processor has it at hand.
        stretches.feed(&piece);
    }
    Ok(Body { bytes: buffer.freeze(), stretches, ..Body::default() })
}

/// What a request counts for that does not say how long it is.
pub(crate) const UNDECLARED: u64 = 1 << 20;

/// Room for bodies: how much memory requests may take together.
#[derive(Debug)]
pub(crate) struct Room {
    /// In KiB.
    free: Arc<Semaphore>,
    all: u32,
}

impl Room {
    /// How long somebody waits for room.
    const PATIENCE: Duration = Duration::from_secs(2);

    pub(crate) fn new(mib: u32) -> Self {
        let all = mib.max(1).saturating_mul(1024).min(u32::MAX >> 4);
        Self { free: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Room for a body, until it is let go of. One that is larger than all there is gets all.
    pub(crate) async fn take(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Failure> {
        let wanted = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(self.all);
        let taking = Arc::clone(&self.free).acquire_many_owned(wanted);
        match timeout(Self::PATIENCE, taking).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(_)) | Err(_) => Err(Failure::NoRoom),
        }
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> u64 {
        (u64::from(self.all) - self.free.available_permits() as u64) << 10
    }
}

/// Refuses a body that says itself that it is too large.
pub(crate) fn admit(headers: &HeaderMap, limit: u64) -> Result<(), Failure> {
    match declared(headers) {
        Some(length) if length > limit => Err(Failure::TooLarge { limit }),
        None | Some(0_u64..) => Ok(()),
    }
}

/// How long a body says it is.
pub(crate) fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads on for a while after an early answer: a client that is still sending would not read it,
/// and closing on it would take the answer away.
pub(crate) fn drain(mut body: Incoming) {
    /// Past these the client has only itself to blame.
    const LONGEST: Duration = Duration::from_secs(10);
    const MOST: usize = 1 << 30;
    if body.is_end_stream() {
        return;
    }
    let drained = async move {
        let mut left = MOST;
        while let Ok(Some(piece)) = frame(&mut body, LONGEST).await {
            left = left.saturating_sub(piece.len());
            if left == 0 {
                break;
            }
        }
    };
    tokio::spawn(timeout(LONGEST, drained));
}

/// The next piece of data.
async fn frame(body: &mut Incoming, idle: Duration) -> Result<Option<Bytes>, Failure> {
    loop {
        let next = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
        match timeout(idle, next).await {
            Err(_) => return Err(Failure::SlowBody),
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => return Err(Failure::BodyBrokeOff),
            // Trailers say nothing about a conversation.
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_finds_no_room_is_told_so_and_room_comes_back() {
        let room = Room::new(1);
        let most = room.take(1 << 30).await.unwrap();
        assert_eq!(room.taken(), 1 << 20);
        assert!(matches!(room.take(1).await, Err(Failure::NoRoom)));
        drop(most);
        let _half = room.take(512 << 10).await.unwrap();
        let _other = room.take(512 << 10).await.unwrap();
        assert_eq!(room.taken(), 1 << 20);
    }
}
