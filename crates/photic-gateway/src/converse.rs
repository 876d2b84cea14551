//! A turn of a conversation: read whole, repaired, sent on; the reply streams back.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use photic::Wire;
use photic_net::Outgoing;

use crate::account::Account;
use crate::failure::Failure;
use crate::fix::{Effort, Order};
use crate::proxy::Proxy;
use crate::reply::ReplyBody;
use crate::route::{self, Route};
use crate::{cross, headers, intake};

/// Answers a request of a conversation, or one about what it would cost.
pub(crate) async fn converse(
    proxy: &Arc<Proxy>,
    route: Route,
    off: bool,
    request: Request<Incoming>,
    account: &mut Account,
) -> Result<Response<ReplyBody>, Failure> {
    let (mut parts, mut incoming) = request.into_parts();
    let body = match intake::read(&mut incoming, proxy.bounds, &proxy.buffers).await {
        Ok(body) => body,
        Err(failure) => {
            intake::drain(incoming);
            return Err(failure);
        }
    };
    account.bytes_in = body.len() as u64;
    let caller = route.wire();
    let mut order = order(proxy, caller, body, off).await?;
    account.learn(&mut order);
    let crosses = order.wire != caller;
    if crosses && route == Route::CountTokens {
        return Ok(counted(&order));
    }
    headers::request(&mut parts.headers);
    if crosses {
        headers::translate(&mut parts.headers, order.wire);
    }
    let Order { upstream, wire, pieces, usage_in_stream, .. } = order;
    let path = if crosses { route::conversation(wire) } else { parts.uri.path() };
    let uri = upstream.route(path, parts.uri.query()).ok_or(Failure::BadPath)?;
    let reply = proxy.send(upstream.host(), outgoing(parts, uri, pieces)).await?;
    let mut reply = if crosses {
        cross::reply(proxy, (wire, caller), usage_in_stream, upstream.host(), reply).await?
    } else {
        proxy.through(reply)
    };
    if !off {
        headers::say(reply.headers_mut(), &account.fixes);
    }
    Ok(reply)
}

async fn order(proxy: &Arc<Proxy>, caller: Wire, body: Bytes, off: bool) -> Result<Order, Failure> {
    let effort = if off { Effort::Exact } else { Effort::Light };
    if let Some(order) = proxy.workshop.order(caller, &body, effort) {
        return Ok(order);
    }
    // Decoded pictures are large: as many at once as there are processors, not as there are
    // requests.
    let _permit = proxy.pixels.acquire().await.map_err(|_| Failure::Broken)?;
    let shared = Arc::clone(proxy);
    let work = move || shared.workshop.order(caller, &body, Effort::Full);
    // A decoder that panics takes this request with it, and no other.
    tokio::task::spawn_blocking(work).await.ok().flatten().ok_or(Failure::Broken)
}

fn outgoing(parts: Parts, uri: http::Uri, pieces: Vec<Bytes>) -> Request<Outgoing> {
    let mut outgoing = Request::new(Outgoing::pieces(pieces));
    *outgoing.method_mut() = Method::POST;
    *outgoing.uri_mut() = uri;
    *outgoing.headers_mut() = parts.headers;
    // The client writes the length of what it sends.
    outgoing.headers_mut().remove(CONTENT_LENGTH);
    outgoing
}

/// An upstream of another wire cannot count; the estimate is better than no answer.
fn counted(order: &Order) -> Response<ReplyBody> {
    let body = format!("{{\"input_tokens\":{}}}", order.tokens);
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
