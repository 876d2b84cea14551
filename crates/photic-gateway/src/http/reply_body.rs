//! The body of a reply on its way to the caller: streamed as it comes, or at hand.
//!
//! Never gathers a stream: what an upstream sent is offered to the caller before more is read.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use photic_net::Incoming;
use tokio::time::{Instant, Sleep};

use crate::memory::{Charge, Share, Use};

/// Below this nothing is charged: most events are far shorter.
const SMALL: usize = 256 << 10;
/// Bytes that are charged at once.
const STEP: usize = 1 << 20;
/// How often an event is held while it is translated: as lines, as data, as what it says, as it is written.
const HELD_TIMES: usize = 4;

/// A reply body.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// At hand.
    Pieces(std::vec::IntoIter<Bytes>, u64),
    /// As it comes.
    Stream(Stream),
    /// As it comes, in the words of another wire.
    Translated(Box<Translated>),
}

/// A stream and who translates it.
#[derive(Debug)]
pub(crate) struct Translated {
    stream: Stream,
    translation: photic::Stream,
    over: bool,
    /// The memory of what cannot be passed on yet.
    charge: Charge,
}

/// A body that is being received, and the patience with it.
#[derive(Debug)]
pub(crate) struct Stream {
    incoming: Incoming,
    idle: Duration,
    /// Set when there is something to wait for; most pieces are there when they are asked for.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    /// What was read before, and comes first.
    before: Bytes,
    /// Sees every piece.
    tap: Option<Box<dyn ReplyTap>>,
}

/// Sees the bytes of a reply as they pass. It learns of the end by being dropped.
pub(crate) trait ReplyTap: std::fmt::Debug + Send {
    /// Takes note of a piece.
    fn see(&mut self, piece: &[u8]);
}

/// The reason for which a reply ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the upstream fell silent")]
    Silent,
    #[error("the upstream broke off")]
    Upstream(#[from] hyper::Error),
}

impl ReplyBody {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self::pieces(vec![body.into()])
    }

    pub(crate) fn pieces(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self::Pieces(pieces.into_iter(), left)
    }

    pub(crate) fn translated(stream: Stream, translation: photic::Stream, share: &Share) -> Self {
        let charge = share.nothing(Use::Replies);
        Self::Translated(Box::new(Translated { stream, translation, over: false, charge }))
    }
}

impl Stream {
    pub(crate) const fn new(incoming: Incoming, idle: Duration) -> Self {
        Self { incoming, idle, alarm: None, waiting: false, before: Bytes::new(), tap: None }
    }

    /// Puts back what was read of it.
    pub(crate) fn put_back(&mut self, read: Bytes) {
        self.before = read;
    }

    /// Shows every piece to a tap, which is dropped with the stream.
    pub(crate) fn tapped(mut self, tap: Box<dyn ReplyTap>) -> Self {
        self.tap = Some(tap);
        self
    }

    fn is_end_stream(&self) -> bool {
        self.before.is_empty() && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.incoming.size_hint();
        let before = self.before.len() as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + before);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + before);
        }
        hint
    }

    /// The next frame, unless it takes too long.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if !self.before.is_empty() {
            let before = std::mem::take(&mut self.before);
            return Poll::Ready(Some(Ok(Frame::data(before))));
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(context) {
            self.waiting = false;
            if let (Some(tap), Some(Ok(frame))) = (&mut self.tap, &frame) {
                frame.data_ref().into_iter().for_each(|data| tap.see(data));
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Broken::from)));
        }
        let until = Instant::now() + self.idle;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if !self.waiting {
            alarm.as_mut().reset(until);
            self.waiting = true;
        }
        alarm.as_mut().poll(context).map(|()| Some(Err(Broken::Silent)))
    }
}

impl Translated {
    /// The next events, as soon as there are any. A stream that breaks off ends with an event that
    /// says so: its caller can still be told.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        while !self.over {
            let events = match self.stream.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.feed(&data),
                    Err(_) => Vec::new(),
                },
                Poll::Ready(Some(Err(_)) | None) => {
                    self.over = true;
                    self.translation.finish()
                }
            };
            if !events.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(events.into()))));
            }
        }
        Poll::Ready(None)
    }

    /// Translates a piece, as long as there is memory for what it leaves behind. An event that is not complete is
    /// held as it came, and a few times over once it is.
    fn feed(&mut self, data: &[u8]) -> Vec<u8> {
        let held = self.translation.held() + data.len();
        let wanted = if held > SMALL { (held * HELD_TIMES).next_multiple_of(STEP) } else { 0 };
        let events = if self.charge.try_reach(wanted as u64) {
            self.translation.feed(data)
        } else {
            self.translation.fail("the gateway has no room for this reply; try again soon")
        };
        if self.translation.held() <= SMALL {
            self.charge.shrink_to(0);
        }
        // Whatever else the upstream has to say, nobody would read it.
        self.over = self.translation.has_failed();
        events
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Pieces(rest, left) => {
                let piece = rest.find(|piece| !piece.is_empty());
                *left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
                Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
            }
            Self::Stream(stream) => stream.poll(context),
            Self::Translated(translated) => translated.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Pieces(_, left) => *left == 0,
            Self::Stream(stream) => stream.is_end_stream(),
            Self::Translated(translated) => translated.over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Pieces(_, left) => SizeHint::with_exact(*left),
            Self::Stream(stream) => stream.size_hint(),
            Self::Translated(_) => SizeHint::default(),
        }
    }
}
