//! A turn of a conversation: read whole, repaired, sent on; the reply streams back.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use hyper::body::Incoming;
use photic::Wire;
use tokio::sync::oneshot;

use crate::account::RequestLog;
use crate::cross::Translation;
use crate::failure::Failure;
use crate::fetching::FetchedInputs;
use crate::fix::{LoweredRequest, MissingInputs, OutboundRequest, RepairLevel, Supplies};
use crate::heal::{self, Sent, Turn};
use crate::intake::{self, Body};
use crate::memory::Share;
use crate::pixel_work::Allowance;
use crate::proxy::{Admitted, Proxy};
use crate::record::{Bill, SessionContext};
use crate::refusal::Refusal;
use crate::reply::{ReplyBody, Stream};
use crate::route::{Route, path_params};
use crate::tenancy::Caller;
use crate::watch::{Outcome, UsageTap};
use crate::{auditing, cross, headers, record};

/// Answers a request of a conversation, or one about what it would cost.
pub(crate) async fn converse(
    proxy: &Arc<Proxy>,
    route: Route,
    off: bool,
    request: Request<Incoming>,
    who: &Admitted,
    account: &mut RequestLog,
) -> Result<Response<ReplyBody>, Failure> {
    let (parts, mut incoming) = request.into_parts();
    let body = match intake::read(&mut incoming, proxy.bounds, &proxy.buffers, &who.share).await {
        Ok(body) => body,
        Err(failure) => {
            intake::drain(incoming);
            return Err(failure);
        }
    };
    let request = Request::from_parts(parts, body);
    converse_whole(proxy, route, off, request, who, account).await
}

/// The same, where the body is at hand.
pub(crate) async fn converse_whole(
    proxy: &Arc<Proxy>,
    route: Route,
    off: bool,
    request: Request<Body>,
    who: &Admitted,
    account: &mut RequestLog,
) -> Result<Response<ReplyBody>, Failure> {
    let (mut parts, mut body) = request.into_parts();
    account.bytes_in = body.bytes.len() as u64;
    body.identity.clone_from(&who.caller.identity);
    let caller = route.wire();
    body.asked = path_params(caller, parts.uri.path());
    if !off {
        body.retention = headers::retention(&parts.headers)?;
    }
    let order = if off {
        proxy
            .workshop
            .order(caller, &body, RepairLevel::Exact, &[])
            .map_err(|_| Refusal::NoUpstream)?
    } else {
        repaired(proxy, caller, who, &mut body).await?
    };
    let kept =
        (!off && !route.is_count() && proxy.workshop.recorder.is_some()).then(|| body.clone());
    account.expect(&order);
    let crosses = order.wire != caller;
    if crosses && route.is_count() {
        return Ok(counted(&order));
    }
    headers::request(&mut parts.headers);
    let (path, query) = if crosses {
        headers::translate(&mut parts.headers, order.wire, parts.uri.query());
        let (path, query) = order.wire.path(&order.asked);
        // The query of one wire may hold a key, and says nothing to another.
        let own = parts.uri.query().filter(|_| caller.names_model() && query.is_none());
        (path, query.or(own))
    } else {
        (Cow::Borrowed(parts.uri.path()), parts.uri.query())
    };
    let mut asked = parts.uri.query().unwrap_or_default().split('&');
    let array = caller.http().stream_query.is_some_and(|query| !asked.any(|pair| pair == query));
    let turn = Turn { caller, body, headers: parts.headers, path: &path, query, share: &who.share };
    let Sent { mut order, reply, outcome } = heal::send(proxy, turn, order).await?;
    account.learn(&mut order);
    let kept = kept.zip(order.sent.take()).filter(|_| reply.status().is_success());
    let (turn, bill) = match kept {
        Some((body, sent)) => {
            let wants = std::mem::take(&mut order.wants);
            record(proxy, caller, body, sent, wants, who.share.clone()).await
        }
        None => (None, None),
    };
    let outcome = outcome.map(Arc::new);
    let reply = match &outcome {
        Some(outcome) if reply.status().is_success() && !route.is_count() => {
            watched(proxy, &who.caller, &mut order, outcome, bill, reply)
        }
        _ => reply,
    };
    let OutboundRequest { upstream, wire, usage_in_stream, renamed, .. } = order;
    let mut reply = if crosses {
        let way = Translation { from: wire, to: caller, usage_in_stream, array, renamed };
        cross::reply(way, upstream.host(), reply, &who.share).await?
    } else {
        Proxy::through(reply)
    };
    if !off {
        headers::say(reply.headers_mut(), &account.fixes);
        headers::say_left(reply.headers_mut(), &account.facts);
        proxy.tally.add(account.fixes.counts(), &account.facts.retired);
    }
    if let Some(outcome) = outcome {
        headers::say_healed(reply.headers_mut(), &outcome.healed);
        account.outcome = Some(outcome);
    }
    if audit(proxy, &who.caller, account, turn.as_ref()).await
        && let Some(turn) = turn
    {
        headers::say_kept(reply.headers_mut(), &turn);
    }
    Ok(reply)
}

/// Makes a request ready; what is known about the conversation goes along with its body.
async fn repaired(
    proxy: &Arc<Proxy>,
    caller: Wire,
    who: &Admitted,
    body: &mut Body,
) -> Result<OutboundRequest, Failure> {
    let came = body.clone();
    let workshop = &proxy.workshop;
    let (transcript, findings) = came.lift(caller);
    if let Some(recorder) = &workshop.recorder {
        let recalled =
            recorder.recall(who.caller.tenant.clone(), &transcript, &workshop.shelf).await?;
        body.recalled = Arc::new(recalled);
    } else {
        body.recalled = Arc::new(SessionContext::nothing(who.caller.tenant.clone()));
    }
    if !transcript.is_readable() {
        return Ok(workshop.exactly(caller, body, &transcript).ok_or(Refusal::NoUpstream)?);
    }
    let terms = workshop.terms(&transcript, &body.identity, &[]).ok_or(Refusal::NoUpstream)?;
    let job = workshop.begin(&terms, transcript, body);
    if !job.needs_only_pictures() {
        return with_effort(proxy, caller, who, body.clone(), &job.wants).await;
    }
    let mut gathered = workshop.gather(body, &job.wants, &who.share).await?;
    if gathered.pictures.away {
        return Err(Failure::StoreAway);
    }
    let held = gathered.take_charges();
    let ordered = |work: LoweredRequest<'_, '_>| workshop.ordered(caller, body, &findings, work);
    let order = workshop.finish(&terms, job, Supplies::of(&gathered), ordered);
    Ok(OutboundRequest { held, ..order })
}

/// Keeps a turn that is being answered: beside the answer, or before it, where that is wanted. Then
/// the turn is told, if it was kept.
async fn record(
    proxy: &Arc<Proxy>,
    caller: Wire,
    body: Body,
    sent: record::Sent,
    wants: MissingInputs,
    share: Share,
) -> (Option<record::Turn>, Option<Bill>) {
    let Some(recorder) = proxy.workshop.recorder.as_ref() else { return (None, None) };
    let Some(place) = recorder.place().await else { return (None, None) };
    let (tell, told) = oneshot::channel();
    let bill = recorder.open_bill(body.recalled.tenant.clone(), &sent, told);
    let shared = Arc::clone(proxy);
    let keeping = tokio::spawn(async move {
        let kept = recorded(&shared, caller, body, sent, &wants, &share).await;
        drop(place);
        let _ = tell.send(kept.clone());
        kept
    });
    if !recorder.acknowledge {
        return (None, bill);
    }
    (recorder.acknowledged(async { keeping.await.ok().flatten() }).await, bill)
}

/// Writes a turn into the record. What it takes pixels for is mostly at hand since it was made ready; where it
/// is not, that is pixel work like any other.
async fn recorded(
    proxy: &Arc<Proxy>,
    caller: Wire,
    body: Body,
    sent: record::Sent,
    wants: &MissingInputs,
    share: &Share,
) -> Option<record::Turn> {
    let shared = Arc::clone(proxy);
    if sent.is_settled {
        let work = move || {
            shared.workshop.record(caller, &body, Supplies::of(&FetchedInputs::default()), &sent)
        };
        return tokio::task::spawn_blocking(work).await.ok().flatten();
    }
    let gathered = proxy.workshop.gather(&body, wants, share).await.ok()?;
    let work = move |allowance: &Allowance| {
        let supplies = Supplies::with_pixels(&gathered, allowance);
        shared.workshop.record(caller, &body, supplies, &sent)
    };
    proxy.pixels.run(share, work).await.ok()?.0
}

/// Writes down what was done; whether it is written, where somebody waits for that.
async fn audit(
    proxy: &Proxy,
    who: &Caller,
    account: &RequestLog,
    turn: Option<&record::Turn>,
) -> bool {
    let Some(auditing) = &proxy.auditing else { return true };
    let entries = auditing::of_turn(who, account, turn);
    if turn.is_some() {
        return Box::pin(auditing.write(who, entries)).await;
    }
    auditing.note(who, entries);
    true
}

/// A reply whose cost is compared with what was expected.
fn watched(
    proxy: &Arc<Proxy>,
    who: &Caller,
    order: &mut OutboundRequest,
    outcome: &Arc<Outcome>,
    bill: Option<Bill>,
    reply: Response<Stream>,
) -> Response<Stream> {
    let Some(carried) = order.carried.take() else { return reply };
    let watch = UsageTap {
        proxy: Arc::clone(proxy),
        outcome: Arc::clone(outcome),
        wire: order.wire,
        host: order.upstream.host().to_owned(),
        teacher: who.identity.clone(),
        carried,
        estimate: order.tokens,
        bill,
        head: Vec::new(),
        tail: Vec::new(),
    };
    reply.map(|stream| stream.watched(watch))
}

/// The same where it takes pixels, or what is not at hand.
async fn with_effort(
    proxy: &Arc<Proxy>,
    caller: Wire,
    who: &Admitted,
    body: Body,
    wants: &MissingInputs,
) -> Result<OutboundRequest, Failure> {
    // Before a place among the pixels is taken: the network is slower than they are.
    let mut gathered = proxy.workshop.gather(&body, wants, &who.share).await?;
    if gathered.pictures.away {
        return Err(Failure::StoreAway);
    }
    if let Some(quotas) = proxy.quotas.as_ref().filter(|_| gathered.pixels > 0) {
        let spent = Box::pin(quotas.spend_pixels(&who.caller.tenant, gathered.pixels)).await;
        spent.map_err(|over| proxy.over(&who.caller, over))?;
    }
    let shared = Arc::clone(proxy);
    let held = gathered.take_charges();
    let work = move |allowance: &Allowance| {
        let effort = RepairLevel::Full(Supplies::with_pixels(&gathered, allowance));
        shared.workshop.order(caller, &body, effort, &[])
    };
    let (order, charge) = proxy.pixels.run(&who.share, work).await?;
    let mut order = order.map_err(|_| Failure::Broken)?;
    order.held = held;
    order.held.push(charge);
    Ok(order)
}

/// An upstream of another wire cannot count; the estimate is better than no answer.
fn counted(order: &OutboundRequest) -> Response<ReplyBody> {
    let body = format!("{{\"input_tokens\":{}}}", order.tokens);
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
