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
use photic::wire::PathParams;
use photic::{Base64Runs, Finding, Transcript, Wire};
use tokio::time::{Instant, timeout};

use super::failure::Failure;
use crate::memory::{Buffers, Share, Use, charged};

/// So much of a body has to be there before a buffer is looked for that holds all of it.
const BEGINNING: usize = 256 << 10;
/// A body without a length that is longer may have any. Its buffer has room for the longest: what is not used of
/// that takes no memory, and to grow step by step leaves gaps that do.
const LARGE: usize = 8 << 20;

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
    runs: Base64Runs,
}

/// A body as a conversation, and what was found in it.
pub(crate) type Lifted<'b> = (Transcript<'b>, Vec<Finding>);

impl Body {
    /// Reads the body as a conversation. On wires whose path names the model, `params` says it.
    pub(crate) fn lift<'b>(&'b self, wire: Wire, params: &'b PathParams) -> Lifted<'b> {
        let (mut transcript, findings) = photic::lift_with_hints(wire, &self.bytes, &self.runs);
        let settings = &mut transcript.settings;
        if let Some(model) = &params.model {
            settings.model = Some(Str::plain(model.as_str()));
            if params.stream {
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

/// Reads a body whole, charged to whoever sends it, as it arrives. Fails if it is too large, if there is no
/// room for it, or if it comes too slowly.
pub(crate) async fn read(
    body: &mut Incoming,
    bounds: Bounds,
    buffers: &Arc<Buffers>,
    share: &Share,
) -> Result<Body, Failure> {
    let declared = body.size_hint().exact();
    let mut pace = Pace::new(bounds.idle);
    let Some(first) = pace.frame(body).await? else { return Ok(Body::default()) };
    // Small bodies mostly come in one piece, which then is the buffer.
    if declared == Some(first.len() as u64) {
        let charge = share.charge(Use::Bodies, first.len() as u64).await?;
        return Ok(charged(first, charge).into());
    }
    let declared = declared.and_then(|length| usize::try_from(length).ok());
    // A promise takes no memory: there is a buffer for all of it once there is something to put in.
    let mut room = declared.map_or(BEGINNING, |length| length.min(BEGINNING));
    let mut buffer = buffers.take(room, Some(share.nothing(Use::Bodies)));
    let mut runs = Base64Runs::default();
    let mut next = Some(first);
    while let Some(piece) = next {
        let length = buffer.len() + piece.len();
        if length as u64 > bounds.bytes {
            return Err(Failure::TooLarge { limit: bounds.bytes });
        }
        if length > room {
            room = match declared {
                Some(all) => all.max(length),
                None if length <= LARGE => LARGE,
                None => usize::try_from(bounds.bytes).unwrap_or(length),
            };
            let charge = buffer.take_charge();
            let beginning = std::mem::replace(&mut buffer, buffers.take(room, charge));
            buffer.extend(beginning.as_ref()).await?;
        }
        buffer.extend(&piece).await?;
        // Now, while the processor has it at hand.
        runs.feed(&piece);
        drop(piece);
        next = pace.frame(body).await?;
    }
    Ok(Body { bytes: buffer.freeze(), runs })
}

/// How fast a body has to come: no pause may be long, and all of it may not take longer than one long pause
/// and what the slowest useful line takes.
#[derive(Debug)]
struct Pace {
    idle: Duration,
    begun: Instant,
    arrived: u64,
}

impl Pace {
    /// Bytes a second of the slowest line that is useful.
    const SLOWEST: u64 = 4 << 10;

    fn new(idle: Duration) -> Self {
        Self { idle, begun: Instant::now(), arrived: 0 }
    }

    /// The next piece of data, in time.
    async fn frame(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
        let whole = self.idle + Duration::from_millis(self.arrived * 1000 / Self::SLOWEST);
        let left = whole.saturating_sub(self.begun.elapsed());
        let piece = frame(body, left.min(self.idle)).await?;
        self.arrived += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Ok(piece)
    }
}

/// Refuses a body that says itself that it is too large.
pub(crate) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), Failure> {
    match declared_length(headers) {
        Some(length) if length > limit => Err(Failure::TooLarge { limit }),
        None | Some(0_u64..) => Ok(()),
    }
}

/// How long a body says it is.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads on for a while after an early answer: a client that is still sending would not read it,
/// and closing on it would take the answer away.
pub(crate) fn drain(mut body: Incoming) {
    /// Past these the client has only itself to blame.
    const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
    const MAX_DRAINED: usize = 1 << 30;
    if body.is_end_stream() {
        return;
    }
    let drained = async move {
        let mut left = MAX_DRAINED;
        while let Ok(Some(piece)) = frame(&mut body, DRAIN_TIMEOUT).await {
            left = left.saturating_sub(piece.len());
            if left == 0 {
                break;
            }
        }
    };
    tokio::spawn(timeout(DRAIN_TIMEOUT, drained));
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
