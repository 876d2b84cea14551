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
use photic::{Finding, Stretches, Transcript, Wire};
use tokio::time::timeout;

use crate::buffers::Buffers;
use crate::failure::Failure;
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
}

impl Body {
    pub(crate) fn lift(&self, wire: Wire) -> (Transcript<'_>, Vec<Finding>) {
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
    Ok(Body { bytes: buffer.freeze(), stretches, asked: Asked::default() })
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
