//! The body of an outgoing request: chunks in memory, or a stream that is passed on.
//!
//! Chunks are never joined. hyper writes them with one vectored system call.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::error::BoxError;

/// A request body.
#[derive(Debug)]
pub struct Outgoing(BodySource);

#[derive(Debug)]
enum BodySource {
    Pieces { rest: std::vec::IntoIter<Bytes>, left: u64 },
    Stream { incoming: Incoming, remaining: u64 },
}

/// Error of a stream that is larger than its receiver allows.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body is larger than allowed")]
pub(crate) struct TooLarge;

/// Error of a stream that ended early because its sender disconnected.
#[derive(Debug, thiserror::Error)]
#[error("the body broke off")]
pub(crate) struct BrokeOff(#[source] hyper::Error);

impl Outgoing {
    /// Creates an empty body.
    pub fn empty() -> Self {
        Self::pieces(Vec::new())
    }

    /// Creates a body from chunks in memory. They are sent one after the other.
    pub fn pieces(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self(BodySource::Pieces { rest: pieces.into_iter(), left })
    }

    /// Creates a body that passes a stream on as it arrives. It fails once more than `limit` bytes
    /// came.
    pub const fn stream(incoming: Incoming, limit: u64) -> Self {
        Self(BodySource::Stream { incoming, remaining: limit })
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
            BodySource::Pieces { rest, left } => {
                let piece = rest.find(|piece| !piece.is_empty());
                *left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
                Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
            }
            BodySource::Stream { incoming, remaining } => {
                Pin::new(incoming).poll_frame(context).map(|frame| {
                    Some(match frame? {
                        Err(error) => Err(BrokeOff(error).into()),
                        Ok(frame) => {
                            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                            match remaining.checked_sub(length) {
                                None => Err(TooLarge.into()),
                                Some(left) => {
                                    *remaining = left;
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
            BodySource::Pieces { left, .. } => *left == 0,
            BodySource::Stream { incoming, .. } => incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodySource::Pieces { left, .. } => SizeHint::with_exact(*left),
            BodySource::Stream { incoming, .. } => incoming.size_hint(),
        }
    }
}
