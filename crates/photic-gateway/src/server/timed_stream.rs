//! A connection with time limits for the client: for the head of a request, and for reading replies.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connections::{ConnectionState, Phase};

/// A connection with time limits for the client.
#[derive(Debug)]
pub(crate) struct TimedStream<S> {
    stream: S,
    state: Arc<ConnectionState>,
    /// `None` for HTTP/2, whose frames say nothing about heads.
    head: Option<Deadline>,
    write: Deadline,
}

/// A time limit. Its timer is created on the first wait.
#[derive(Debug)]
struct Deadline {
    after: Duration,
    is_set: bool,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedStream<S> {
    /// Limits the time for the head of a request, and for each write.
    pub(crate) const fn new(
        stream: S,
        state: Arc<ConnectionState>,
        head: Option<Duration>,
        write: Duration,
    ) -> Self {
        let head = match head {
            Some(head) => Some(Deadline::new(head)),
            None => None,
        };
        Self { stream, state, head, write: Deadline::new(write) }
    }

    /// Starts or stops the time limit by the result of a write.
    fn wrote<T>(
        &mut self,
        polled: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            if self.write.is_set {
                self.write.is_set = false;
                self.state.set_unread(false);
            }
            return polled;
        }
        self.state.set_unread(true);
        self.write.wait(context).map(Err)
    }
}

impl Deadline {
    const fn new(after: Duration) -> Self {
        Self { after, is_set: false, timer: None }
    }

    /// Polls the time limit, and starts it if it is not set. Ready with an error when it has passed.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let due = Instant::now() + self.after;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if !self.is_set {
            timer.as_mut().reset(due);
            self.is_set = true;
        }
        timer.as_mut().poll(context).map(|()| io::ErrorKind::TimedOut.into())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        let Some(head) = &mut this.head else { return polled };
        match (this.state.phase(), &polled) {
            (Phase::Waiting, Poll::Ready(_)) if buffer.filled().len() > before => {
                this.state.set(Phase::Head);
                head.is_set = false;
            }
            (Phase::Head, Poll::Pending) => return head.wait(context).map(Err),
            _ => {}
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.wrote(polled, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(context, pieces);
        this.wrote(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
