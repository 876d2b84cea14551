//! One request and its answer: which way it goes.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use photic::Wire;
use photic_net::{Client, Outgoing};
use tokio::sync::Semaphore;

use crate::buffers::Buffers;
use crate::failure::Failure;
use crate::fix::Workshop;
use crate::intake::{self, Bounds};
use crate::reply::{ReplyBody, Stream};
use crate::route::Route;
use crate::tally::Tally;
use crate::{converse, headers};

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) client: Client,
    pub(crate) workshop: Workshop,
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) bounds: Bounds,
    /// How many requests may work on pixels at once.
    pub(crate) pixels: Semaphore,
    pub(crate) stopping: AtomicBool,
    pub(crate) tally: Arc<Tally>,
}

impl Proxy {
    /// Answers a request; what fails is an answer, too.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<ReplyBody>, Infallible> {
        let route = Route::of(request.method(), request.uri().path(), request.headers());
        let answer = match route {
            Route::Health => Ok(state(StatusCode::OK, "ok")),
            Route::Ready if self.stopping.load(Ordering::Relaxed) => {
                Ok(state(StatusCode::SERVICE_UNAVAILABLE, "stopping"))
            }
            Route::Ready => Ok(state(StatusCode::OK, "ready")),
            Route::Converse(_) | Route::CountTokens | Route::Other(_) => {
                match intake::admit(request.headers(), self.bounds.bytes) {
                    Err(failure) => {
                        intake::drain(request.into_body());
                        Err(failure)
                    }
                    Ok(()) => self.forward(route, request).await,
                }
            }
        };
        Ok(answer.unwrap_or_else(|failure| failure.render(route.wire())))
    }

    async fn forward(
        self: Arc<Self>,
        route: Route,
        request: Request<Incoming>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let off = headers::is_off(request.headers()) || headers::is_encoded(request.headers());
        match route {
            Route::Other(wire) => self.pass(wire, request).await,
            // Only the body says which upstream it is for, where they differ by model.
            _ if off && !self.workshop.upstreams.differ_by_model() => {
                self.pass(route.wire(), request).await
            }
            _ => converse::converse(&self, route, off, request).await,
        }
    }

    /// Streams a request through as it is.
    async fn pass(
        &self,
        wire: Wire,
        request: Request<Incoming>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut parts, incoming) = request.into_parts();
        let upstream = self.workshop.upstreams.choose(wire, None).ok_or(Failure::BadPath)?;
        let uri = upstream.other(parts.uri.path(), parts.uri.query());
        headers::request(&mut parts.headers);
        let body = Outgoing::stream(incoming, self.bounds.bytes);
        let mut outgoing = Request::new(body);
        *outgoing.method_mut() = parts.method;
        *outgoing.uri_mut() = uri.ok_or(Failure::BadPath)?;
        *outgoing.headers_mut() = parts.headers;
        let reply = self.send(upstream.host(), outgoing).await?;
        Ok(Self::through(reply))
    }

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

    /// A reply as it comes.
    pub(crate) fn through(reply: Response<Stream>) -> Response<ReplyBody> {
        let (mut parts, body) = reply.into_parts();
        headers::reply(&mut parts.headers);
        // The caller is answered in its own version of HTTP, whatever the upstream speaks.
        parts.version = http::Version::default();
        Response::from_parts(parts, ReplyBody::Stream(body))
    }
}

fn state(status: StatusCode, word: &str) -> Response<ReplyBody> {
    let body = format!("{{\"status\":\"{word}\"}}");
    let mut response = Response::new(ReplyBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
