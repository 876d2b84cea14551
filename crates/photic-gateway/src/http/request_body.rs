//! Reads request bodies into one buffer, bounded in size and time.

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
use photic_encoding::{Coding, DecodeError, Decoding};
use tokio::time::{Instant, timeout};

use super::failure::Failure;
use crate::memory::{Buffer, Buffers, Share, Use, charged};

/// Bytes that must arrive before a buffer for the whole body is taken.
const BEGINNING: usize = 64 << 10;
/// Length above which a body of unknown length gets a buffer of the maximum size. The unused part of
/// a buffer takes no memory, while growing in steps would leave gaps that do.
const LARGE: usize = 8 << 20;

/// Bytes that are decoded at once.
const DECODED_PIECE: usize = 64 << 10;

/// Bounds of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum size.
    pub(crate) bytes: u64,
    /// Maximum time between two pieces.
    pub(crate) idle: Duration,
}

/// A body that was read, and the runs of base64 found while reading it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    runs: Base64Runs,
}

/// A body as a transcript, and the findings about it.
pub(crate) type Lifted<'b> = (Transcript<'b>, Vec<Finding>);

impl Body {
    /// Creates a body from its bytes and the runs of base64 in them.
    pub(crate) const fn new(bytes: Bytes, runs: Base64Runs) -> Self {
        Self { bytes, runs }
    }

    /// Lifts the body into a transcript. Unless the body names the model, it comes from `params`.
    pub(crate) fn lift<'b>(&'b self, wire: Wire, params: &'b PathParams) -> Lifted<'b> {
        with_params(photic::lift_with_hints(wire, &self.bytes, &self.runs), wire, params)
    }
}

/// Lifts a part of a body, as [`Body::lift`] lifts all of it.
pub(crate) fn lift_part<'b>(part: &'b [u8], wire: Wire, params: &'b PathParams) -> Lifted<'b> {
    with_params(photic::lift(wire, part), wire, params)
}

/// Sets what the path of a request says and its body does not.
fn with_params<'b>(lifted: Lifted<'b>, wire: Wire, params: &'b PathParams) -> Lifted<'b> {
    let (mut transcript, findings) = lifted;
    let settings = &mut transcript.settings;
    if let Some(model) = &params.model
        && (settings.model.is_none() || !wire.names_model())
    {
        settings.model = Some(Str::plain(model.as_str()));
    }
    if params.stream && settings.shared.iter().all(|(name, _)| *name != "stream") {
        settings.shared.push(("stream", b"true"));
    }
    (transcript, findings)
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, ..Self::default() }
    }
}

/// A body that is being put together, charged to the share of the caller as it arrives.
struct Assembly<'b> {
    buffers: &'b Arc<Buffers>,
    buffer: Buffer,
    runs: Base64Runs,
    /// Number of bytes that the buffer has room for.
    room: usize,
    /// The length of the whole body, if it is known.
    declared: Option<usize>,
    limit: u64,
}

impl<'b> Assembly<'b> {
    fn new(declared: Option<u64>, limit: u64, buffers: &'b Arc<Buffers>, share: &Share) -> Self {
        let declared = declared.and_then(|length| usize::try_from(length).ok());
        // A declared length takes no memory: the buffer for the whole body is taken once bytes arrived.
        let room = declared.map_or(BEGINNING, |length| length.min(BEGINNING));
        let buffer = buffers.take(room, Some(share.nothing(Use::Bodies)));
        Self { buffers, buffer, runs: Base64Runs::default(), room, declared, limit }
    }

    async fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let length = self.buffer.len() + piece.len();
        if length as u64 > self.limit {
            return Err(Failure::TooLarge { limit: self.limit });
        }
        if length > self.room {
            self.room = match self.declared {
                Some(all) => all.max(length),
                None if length <= LARGE => LARGE,
                None => usize::try_from(self.limit).unwrap_or(length),
            };
            self.buffer.move_to(self.buffers, self.room).await?;
        }
        self.buffer.extend(piece).await?;
        // Done here while the piece is still in the processor's cache.
        self.runs.feed(piece);
        Ok(())
    }

    fn finish(self) -> Body {
        Body { bytes: self.buffer.freeze(), runs: self.runs }
    }
}

/// Decodes a body. The decoded bytes are charged to the share of the caller as they appear.
///
/// # Errors
///
/// Fails if the bytes are not in this encoding, if the decoded body is too large by itself or for its
/// encoded size, or if there is no memory for it.
pub(crate) async fn decode(
    body: Body,
    codings: &[Coding],
    bounds: Bounds,
    buffers: &Arc<Buffers>,
    share: &Share,
) -> Result<Body, Failure> {
    if codings.is_empty() {
        return Ok(body);
    }
    let failed = |error| match error {
        DecodeError::Corrupt => Failure::Encoding,
        DecodeError::TooLarge => Failure::TooLarge { limit: bounds.bytes },
    };
    let mut decoding = Decoding::new(&body.bytes, codings, bounds.bytes).map_err(failed)?;
    let _charge = share.charge(Use::Bodies, decoding.memory()).await?;
    let mut assembly = Assembly::new(None, bounds.bytes, buffers, share);
    let mut piece = vec![0; DECODED_PIECE];
    loop {
        let length = decoding.next(&mut piece).map_err(failed)?;
        if length == 0 {
            return Ok(assembly.finish());
        }
        assembly.push(&piece[..length]).await?;
        // Decoding never waits, and other requests want the processor, too.
        tokio::task::yield_now().await;
    }
}

/// Reads a whole body. Its memory is charged to the share of the caller as it arrives.
///
/// # Errors
///
/// Fails if the body is too large, if there is no memory for it, or if it arrives too slowly.
pub(crate) async fn read(
    body: &mut Incoming,
    bounds: Bounds,
    buffers: &Arc<Buffers>,
    share: &Share,
) -> Result<Body, Failure> {
    let declared = body.size_hint().exact();
    let mut deadline = Deadline::new(bounds.idle);
    let Some(first) = deadline.frame(body).await? else { return Ok(Body::default()) };
    // Small bodies mostly come in one piece, which is used without a copy.
    if declared == Some(first.len() as u64) {
        let charge = share.charge(Use::Bodies, first.len() as u64).await?;
        return Ok(charged(first, charge).into());
    }
    let mut assembly = Assembly::new(declared, bounds.bytes, buffers, share);
    let mut next = Some(first);
    while let Some(piece) = next {
        assembly.push(&piece).await?;
        drop(piece);
        next = deadline.frame(body).await?;
    }
    Ok(assembly.finish())
}

/// The time limit of a body.
///
/// No pause may be longer than `idle`, and the whole body must arrive within `idle` plus its size at
/// [`Deadline::MIN_RATE`].
#[derive(Debug)]
struct Deadline {
    idle: Duration,
    begun: Instant,
    arrived: u64,
}

impl Deadline {
    /// Minimum bytes per second.
    const MIN_RATE: u64 = 4 << 10;

    fn new(idle: Duration) -> Self {
        Self { idle, begun: Instant::now(), arrived: 0 }
    }

    /// Reads the next piece of data. Fails if it is late.
    async fn frame(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
        let whole = self.idle + Duration::from_millis(self.arrived * 1000 / Self::MIN_RATE);
        let left = whole.saturating_sub(self.begun.elapsed());
        let piece = frame(body, left.min(self.idle)).await?;
        self.arrived += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Ok(piece)
    }
}

/// Fails if the declared length of a body exceeds the limit.
pub(crate) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), Failure> {
    match declared_length(headers) {
        Some(length) if length > limit => Err(Failure::TooLarge { limit }),
        None | Some(0_u64..) => Ok(()),
    }
}

/// Returns the declared length of a body.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads and drops the rest of a body for a while after an early answer.
///
/// A client that is still sending may not read the answer, and loses it if the connection is closed.
pub(crate) fn drain(mut body: Incoming) {
    /// Time and bytes after which the connection is closed anyway.
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

/// Reads the next piece of data within `idle`.
async fn frame(body: &mut Incoming, idle: Duration) -> Result<Option<Bytes>, Failure> {
    loop {
        let next = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
        match timeout(idle, next).await {
            Err(_) => return Err(Failure::SlowBody),
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => return Err(Failure::BodyBrokeOff),
            // Trailers hold no part of a conversation.
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
