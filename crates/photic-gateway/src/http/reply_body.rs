//! The body of a reply to the client: complete, streamed, or streamed and translated.
//!
//! A stream is never gathered: each piece from the upstream is offered to the client before more is
//! read.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use photic_encoding::ReplyDecoder;
use photic_net::Incoming;
use tokio::time::{Instant, Sleep};

use crate::memory::{Charge, Share, Use};

/// Bytes of an incomplete event below which nothing is charged. Most events are far shorter.
const SMALL: usize = 256 << 10;
/// Bytes that are charged at once.
const STEP: usize = 1 << 20;
/// Number of copies of an event during its translation: its lines, its data, its parsed form, and the
/// translated event.
const COPIES: usize = 4;

/// A reply body.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// Complete, with the number of bytes left.
    Pieces(std::vec::IntoIter<Bytes>, u64),
    /// Passed on as it arrives.
    Stream(Stream),
    /// Translated to another wire as it arrives.
    Translated(Box<Translated>),
    /// Made by the gateway itself for operators.
    Own(photic_inspector::ResponseBody),
}

/// A stream and its translation.
#[derive(Debug)]
pub(crate) struct Translated {
    stream: Stream,
    translation: photic::Stream,
    over: bool,
    /// The memory of the event that is not complete yet.
    charge: Charge,
}

/// A body that is being received, with a time limit between two pieces.
#[derive(Debug)]
pub(crate) struct Stream {
    incoming: Incoming,
    idle: Duration,
    /// Created on the first wait. Most pieces are there when they are polled for.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    /// The end of the time for the whole reply, if there is one.
    end: Option<Pin<Box<Sleep>>>,
    /// Bytes that were read already and put back. They come first.
    before: Bytes,
    /// The failure that was met while they were read. It comes after them.
    failure: Option<Broken>,
    /// Set once the stream has paused before that failure.
    paused: bool,
    /// Is shown every piece.
    tap: Option<Box<dyn ReplyTap>>,
    /// Set if the body is decoded as it arrives.
    decoder: Option<Box<ReplyDecoder>>,
}

/// Sees the bytes of a reply as they pass. It learns of the end by being dropped.
pub(crate) trait ReplyTap: std::fmt::Debug + Send {
    /// Called with every piece.
    fn see(&mut self, piece: &[u8]);
}

/// The reason for which a reply ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the upstream sent nothing for too long")]
    Silent,
    #[error("the upstream took longer than its `total_s` for the whole reply")]
    Late,
    #[error("the upstream closed the connection in the middle of its reply")]
    Upstream(#[from] hyper::Error),
    #[error("the upstream's reply is not in the encoding that its header names")]
    Encoding,
}

impl ReplyBody {
    /// Creates a complete body.
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self::pieces(vec![body.into()])
    }

    /// Creates a complete body of several pieces.
    pub(crate) fn pieces(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self::Pieces(pieces.into_iter(), left)
    }

    /// Creates a body that is translated as it arrives. Its memory is charged to a share.
    pub(crate) fn translated(stream: Stream, translation: photic::Stream, share: &Share) -> Self {
        let charge = share.nothing(Use::Replies);
        Self::Translated(Box::new(Translated { stream, translation, over: false, charge }))
    }
}

impl Stream {
    /// Creates a stream that fails if no piece arrives within `idle`.
    pub(crate) const fn new(incoming: Incoming, idle: Duration) -> Self {
        Self {
            incoming,
            idle,
            alarm: None,
            waiting: false,
            end: None,
            before: Bytes::new(),
            failure: None,
            paused: false,
            tap: None,
            decoder: None,
        }
    }

    /// Fails if the stream has not ended at this time.
    pub(crate) fn ending(mut self, end: Option<Instant>) -> Self {
        self.end = end.map(|end| Box::pin(tokio::time::sleep_until(end)));
        self
    }

    /// Puts back bytes that were read of it, and the failure that ended them, if any.
    pub(crate) fn put_back(&mut self, read: Bytes, failure: Option<Broken>) {
        (self.before, self.failure) = (read, failure);
    }

    /// Shows every piece to a tap, which is dropped with the stream.
    pub(crate) fn tapped(mut self, tap: Box<dyn ReplyTap>) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Decodes the body as it arrives.
    pub(crate) fn decoded(mut self, decoder: ReplyDecoder) -> Self {
        self.decoder = Some(Box::new(decoder));
        self
    }

    fn is_end_stream(&self) -> bool {
        self.before.is_empty() && self.failure.is_none() && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.decoder.is_some() {
            return SizeHint::default();
        }
        let rest = self.incoming.size_hint();
        let before = self.before.len() as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + before);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + before);
        }
        hint
    }

    /// Polls for the next frame. Fails if it takes too long.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if !self.before.is_empty() {
            let before = std::mem::take(&mut self.before);
            if let Some(tap) = &mut self.tap {
                tap.see(&before);
            }
            return Poll::Ready(Some(Ok(Frame::data(before))));
        }
        if self.failure.is_some() {
            // The HTTP server drops what it has not sent yet when a body fails. It sends it when the
            // body pauses.
            if !std::mem::replace(&mut self.paused, true) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            return Poll::Ready(self.failure.take().map(Err));
        }
        if let Some(end) = &mut self.end
            && end.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Some(Err(Broken::Late)));
        }
        while let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(context) {
            self.waiting = false;
            let frame = match (&mut self.decoder, frame) {
                (Some(decoder), Some(Ok(frame))) if frame.is_data() => {
                    let data = frame.into_data().unwrap_or_default();
                    match decoder.feed(&data) {
                        // Nothing is complete yet.
                        Ok(decoded) if decoded.is_empty() => continue,
                        Ok(decoded) => Some(Ok(Frame::data(decoded.into()))),
                        Err(_) => return Poll::Ready(Some(Err(Broken::Encoding))),
                    }
                }
                (_, frame) => frame,
            };
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
    /// Polls for the next translated events. A stream that breaks off ends with an error event, so
    /// that the client learns of it.
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

    /// Translates a piece if there is memory for the event that it leaves incomplete.
    ///
    /// An event that becomes complete takes [`COPIES`] times its size for a moment.
    fn feed(&mut self, data: &[u8]) -> Vec<u8> {
        let held = self.translation.held() + data.len();
        let wanted = if held > SMALL { (held * COPIES).next_multiple_of(STEP) } else { 0 };
        let events = if self.charge.try_reach(wanted as u64) {
            self.translation.feed(data)
        } else {
            let problem =
                "the gateway has no memory left for this reply; try again in a few seconds";
            self.translation.fail(problem)
        };
        if self.translation.held() <= SMALL {
            self.charge.shrink_to(0);
        }
        // After an error event the client reads nothing more.
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
            Self::Own(body) => Pin::new(body)
                .poll_frame(context)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Pieces(_, left) => *left == 0,
            Self::Stream(stream) => stream.is_end_stream(),
            Self::Translated(translated) => translated.over,
            Self::Own(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Pieces(_, left) => SizeHint::with_exact(*left),
            Self::Stream(stream) => stream.size_hint(),
            Self::Translated(_) => SizeHint::default(),
            Self::Own(body) => body.size_hint(),
        }
    }
}
