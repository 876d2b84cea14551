//! Sends requests to upstreams.

use http::{Request, Response};
use photic_net::{Client, Error, Incoming, Outgoing};
use tokio::time::{Instant, timeout_at};

use super::cause::Cause;
use super::provider::Upstream;
use crate::http::{Bounds, Failure, ReplyBody, Stream, headers};

/// The client for upstreams, with the bounds of bodies.
#[derive(Debug)]
pub(crate) struct UpstreamClient {
    client: Client,
    bounds: Bounds,
}

impl UpstreamClient {
    /// Creates a client.
    pub(crate) const fn new(client: Client, bounds: Bounds) -> Self {
        Self { client, bounds }
    }

    /// Returns the client of upstreams without settings of their own, with its connections.
    pub(crate) fn shared(&self) -> Client {
        self.client.clone()
    }

    /// The bounds of bodies.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Asks an upstream for a socket, and returns the reply.
    pub(crate) async fn upgrade(
        &self,
        upstream: &Upstream,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Failure> {
        let reply = self.of(upstream).upgrade(request).await;
        counted(upstream, &reply);
        reply.map_err(|error| Failure::of(&error, upstream.host(), self.bounds.bytes))
    }

    fn of<'c>(&'c self, upstream: &'c Upstream) -> &'c Client {
        upstream.client().unwrap_or(&self.client)
    }

    /// Passes a reply on that grants no socket.
    pub(crate) fn pass_refusal(&self, reply: Response<Incoming>) -> Response<ReplyBody> {
        pass_on(reply.map(|body| Stream::new(body, self.bounds.idle)))
    }

    /// Sends a request to an upstream, and returns the reply as soon as its head is there.
    pub(crate) async fn send(
        &self,
        upstream: &Upstream,
        request: Request<Outgoing>,
    ) -> Result<Response<Stream>, Failure> {
        let end = upstream.total().map(|total| Instant::now() + total);
        let sending = self.of(upstream).send(request);
        let reply = match end {
            None => sending.await,
            Some(end) => timeout_at(end, sending).await.unwrap_or(Err(Error::Timeout)),
        };
        counted(upstream, &reply);
        reply
            .map(|reply| reply.map(|body| Stream::new(body, self.bounds.idle).ending(end)))
            .map_err(|error| Failure::of(&error, upstream.host(), self.bounds.bytes))
    }
}

/// Counts the outcome of a request.
fn counted<B>(upstream: &Upstream, reply: &Result<Response<B>, Error>) {
    let cause = match reply {
        Ok(reply) => Some(Cause::of_status(reply.status(), upstream.key_owner())),
        Err(error) => Cause::of_error(error),
    };
    if let Some(cause) = cause {
        upstream.attempts().add(cause);
    }
}

/// Passes a reply on as it comes.
pub(crate) fn pass_on(reply: Response<Stream>) -> Response<ReplyBody> {
    let (mut parts, body) = reply.into_parts();
    headers::reply(&mut parts.headers);
    // The caller is answered in its own version of HTTP, whatever version the upstream has.
    parts.version = http::Version::default();
    Response::from_parts(parts, ReplyBody::Stream(body))
}
