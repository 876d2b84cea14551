//! The body of a reply that is watched to its end.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::RequestGuard;
use crate::account::Ending;
use crate::reply::{Broken, ReplyBody};

/// A reply's body, and who watches it.
#[derive(Debug)]
pub(crate) struct Watched {
    body: ReplyBody,
    watch: Option<Box<RequestGuard>>,
}

impl Watched {
    pub(super) fn new(body: ReplyBody, mut watch: Box<RequestGuard>) -> Self {
        // What has no body is not asked for one.
        if body.is_end_stream() {
            watch.account.ending = Ending::Complete;
        }
        Self { body, watch: Some(watch) }
    }

    /// The gateway's own affairs.
    pub(crate) const fn not(body: ReplyBody) -> Self {
        Self { body, watch: None }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let Self { body, watch } = self.get_mut();
        let polled = Pin::new(&mut *body).poll_frame(context);
        let (Poll::Ready(frame), Some(watch)) = (&polled, watch) else { return polled };
        let account = &mut watch.account;
        match frame {
            Some(Ok(frame)) => {
                if account.first_byte.is_none() {
                    account.first_byte = Some(account.begun.elapsed());
                }
                account.bytes_out += frame.data_ref().map_or(0, |data| data.len() as u64);
                // Whoever knows the length does not ask once more.
                if body.is_end_stream() {
                    account.ending = Ending::Complete;
                }
            }
            Some(Err(_)) => account.ending = Ending::Broken,
            None => account.ending = Ending::Complete,
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
