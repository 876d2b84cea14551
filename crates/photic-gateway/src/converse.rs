//! A turn of a conversation: read whole, repaired, sent on; the reply streams back.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use hyper::body::Incoming;
use photic::Wire;

use crate::account::Account;
use crate::cross::Way;
use crate::failure::Failure;
use crate::fix::{Effort, Order};
use crate::heal::{self, Sent, Turn};
use crate::intake::{self, Body};
use crate::proxy::Proxy;
use crate::reply::{ReplyBody, Stream};
use crate::route::{Asked, Route};
use crate::watch::{Outcome, Watch};
use crate::{cross, headers, record};

/// Answers a request of a conversation, or one about what it would cost.
pub(crate) async fn converse(
    proxy: &Arc<Proxy>,
    route: Route,
    off: bool,
    request: Request<Incoming>,
    account: &mut Account,
) -> Result<Response<ReplyBody>, Failure> {
    let (mut parts, mut incoming) = request.into_parts();
    let mut body = match intake::read(&mut incoming, proxy.bounds, &proxy.buffers).await {
        Ok(body) => body,
        Err(failure) => {
            intake::drain(incoming);
            return Err(failure);
        }
    };
    account.bytes_in = body.bytes.len() as u64;
    let caller = route.wire();
    body.asked = Asked::of(caller, parts.uri.path());
    let order = order(proxy, caller, body.clone(), off).await?;
    let kept = (!off && route != Route::CountTokens && proxy.workshop.recorder.is_some())
        .then(|| body.clone());
    account.expect(&order);
    let crosses = order.wire != caller;
    if crosses && route == Route::CountTokens {
        return Ok(counted(&order));
    }
    headers::request(&mut parts.headers);
    let (path, query) = if crosses {
        headers::translate(&mut parts.headers, order.wire, parts.uri.query());
        let (path, query) = order.asked.path(order.wire);
        // The query of one wire may hold a key, and says nothing to another.
        let own = parts.uri.query().filter(|_| caller.names_model() && query.is_none());
        (path, query.or(own))
    } else {
        (Cow::Borrowed(parts.uri.path()), parts.uri.query())
    };
    let mut asked = parts.uri.query().unwrap_or_default().split('&');
    let array = caller == Wire::Gemini && !asked.any(|pair| pair == "alt=sse");
    let turn = Turn { caller, body, headers: parts.headers, path: &path, query };
    let Sent { mut order, reply, outcome } = heal::send(proxy, turn, order).await?;
    account.learn(&mut order);
    if let Some((body, sent)) = kept.zip(order.sent).filter(|_| reply.status().is_success()) {
        record(proxy, caller, body, sent).await;
    }
    let outcome = outcome.map(Arc::new);
    let reply = match &outcome {
        Some(outcome) if reply.status().is_success() && route != Route::CountTokens => {
            watched(proxy, &mut order, outcome, reply)
        }
        _ => reply,
    };
    let Order { upstream, wire, usage_in_stream, .. } = order;
    let mut reply = if crosses {
        let way = Way { from: wire, to: caller, usage_in_stream, array };
        cross::reply(way, upstream.host(), reply).await?
    } else {
        Proxy::through(reply)
    };
    if !off {
        headers::say(reply.headers_mut(), &account.fixes);
        proxy.tally.add(account.fixes.counts());
    }
    if let Some(outcome) = outcome {
        headers::say_healed(reply.headers_mut(), &outcome.healed);
        account.outcome = Some(outcome);
    }
    Ok(reply)
}

/// Keeps a turn that is being answered, beside the answer.
async fn record(proxy: &Arc<Proxy>, caller: Wire, body: Body, sent: record::Sent) {
    let Some(recorder) = &proxy.workshop.recorder else { return };
    let Some(place) = recorder.place().await else { return };
    let shared = Arc::clone(proxy);
    tokio::spawn(async move {
        // At hand since the request was made ready.
        let gathered = shared.workshop.gather(caller, &body, &[]).await;
        let work = move || shared.workshop.record(caller, &body, &gathered, sent);
        let _ = tokio::task::spawn_blocking(work).await;
        drop(place);
    });
}

/// A reply whose cost is compared with what was expected.
fn watched(
    proxy: &Arc<Proxy>,
    order: &mut Order,
    outcome: &Arc<Outcome>,
    reply: Response<Stream>,
) -> Response<Stream> {
    let Some(carried) = order.carried.take() else { return reply };
    let watch = Watch {
        proxy: Arc::clone(proxy),
        outcome: Arc::clone(outcome),
        wire: order.wire,
        host: order.upstream.host().to_owned(),
        carried,
        estimate: order.tokens,
        head: Vec::new(),
        tail: Vec::new(),
    };
    reply.map(|stream| stream.watched(watch))
}

async fn order(proxy: &Arc<Proxy>, caller: Wire, body: Body, off: bool) -> Result<Order, Failure> {
    let effort = if off { Effort::Exact } else { Effort::Light };
    if let Some(order) = proxy.workshop.order(caller, &body, effort, &[]) {
        return Ok(order);
    }
    // Before a place among the pixels is taken: the network is slower than they are.
    let gathered = proxy.workshop.gather(caller, &body, &[]).await;
    // Decoded pictures are large: as many at once as there are processors, not as there are
    // requests.
    let _permit = proxy.pixels.acquire().await.map_err(|_| Failure::Broken)?;
    let shared = Arc::clone(proxy);
    let work = move || shared.workshop.order(caller, &body, Effort::Full(&gathered), &[]);
    // A decoder that panics takes this request with it, and no other.
    tokio::task::spawn_blocking(work).await.ok().flatten().ok_or(Failure::Broken)
}

/// An upstream of another wire cannot count; the estimate is better than no answer.
fn counted(order: &Order) -> Response<ReplyBody> {
    let body = format!("{{\"input_tokens\":{}}}", order.tokens);
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
