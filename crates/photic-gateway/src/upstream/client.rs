//! Sends requests to upstreams.

use http::{Request, Response};
use photic_net::{Client, Incoming, Outgoing};

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

    /// The bounds of bodies.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Asks a host for a socket, and returns the reply.
    pub(crate) async fn upgrade(
        &self,
        host: &str,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Failure> {
        let reply = self.client.upgrade(request).await;
        reply.map_err(|error| Failure::of(&error, host, self.bounds.bytes))
    }

    /// Passes a reply on that grants no socket.
    pub(crate) fn pass_refusal(&self, reply: Response<Incoming>) -> Response<ReplyBody> {
        pass_on(reply.map(|body| Stream::new(body, self.bounds.idle)))
    }

    /// Sends a request to a host, and returns the reply as soon as its head is there.
    pub(crate) async fn send(
        &self,
        host: &str,
        request: Request<Outgoing>,
    ) -> Result<Response<Stream>, Failure> {
        let reply = self.client.send(request).await;
        reply
            .map(|reply| reply.map(|body| Stream::new(body, self.bounds.idle)))
            .map_err(|error| Failure::of(&error, host, self.bounds.bytes))
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
