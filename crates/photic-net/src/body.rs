//! The body of a request on its way out: pieces that are at hand, or a stream passed on.
//!
//! Never joins pieces: hyper hands them to the kernel as one vectored write.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::error::BoxError;

/// A request body.
#[derive(Debug)]
pub struct Outgoing(Kind);

#[derive(Debug)]
enum Kind {
    Pieces { rest: std::vec::IntoIter<Bytes>, left: u64 },
    Stream { incoming: Incoming, room: u64 },
}

/// A stream that grew past what its receiver allows.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body is larger than allowed")]
pub(crate) struct TooLarge;

/// A stream that broke off before its end: its sender went away.
#[derive(Debug, thiserror::Error)]
#[error("the body broke off")]
pub(crate) struct BrokeOff(#[source] hyper::Error);

impl Outgoing {
    /// No body.
    pub fn empty() -> Self {
        Self::pieces(Vec::new())
    }

    /// A body that is at hand, sent piece after piece.
    pub fn pieces(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self(Kind::Pieces { rest: pieces.into_iter(), left })
    }

    /// A body passed on as it arrives; past `limit` bytes it fails.
    pub const fn stream(incoming: Incoming, limit: u64) -> Self {
        Self(Kind::Stream { incoming, room: limit })
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.get_mut().0 {
            Kind::Pieces { rest, left } => {
                let piece = rest.find(|piece| !piece.is_empty());
                *left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
                Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
            }
            Kind::Stream { incoming, room } => {
                Pin::new(incoming).poll_frame(context).map(|frame| {
                    Some(match frame? {
                        Err(error) => Err(BrokeOff(error).into()),
                        Ok(frame) => {
                            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                            match room.checked_sub(length) {
                                None => Err(TooLarge.into()),
                                Some(left) => {
                                    *room = left;
                                    Ok(frame)
                                }
                            }
                        }
                    })
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Pieces { left, .. } => *left == 0,
            Kind::Stream { incoming, .. } => incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Pieces { left, .. } => SizeHint::with_exact(*left),
            Kind::Stream { incoming, .. } => incoming.size_hint(),
        }
    }
}
