//! Batches: every turn in the body is repaired like a request of its own. The replies come later, by
//! other requests, so a rejection cannot be healed.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use photic::Wire;
use photic::retention::Retention;
use photic_net::Outgoing;

use super::picking::Picking;
use super::read::{InboundRequest, read};
use super::reply_headers;
use super::turns::Turns;
use crate::config::NamedPrefix;
use crate::http::{
    BatchTurn, Body, Endpoint, Failure, NotMetered, Passed, Refusal, ReplyBody, Route, codings,
    decode, headers, messages_batch, uploaded_batch,
};
use crate::memory::Charge;
use crate::observe::{Fixes, RequestLog};
use crate::tenant::{Admission, Admitted};
use crate::upstream::pass_on;

/// A batch whose turns are repaired.
#[derive(Debug, Default)]
struct RepairedBatch {
    pieces: Vec<Bytes>,
    fixes: Fixes,
    /// Set if turns that could hold pictures were not read: the first reason.
    passed: Option<Passed>,
    /// The memory of pieces that are not slices of the client's body.
    charges: Vec<Charge>,
}

impl Turns {
    /// Repairs the turns of a batch, and sends it to the upstream of `wire`. A body that is no batch
    /// is sent unchanged.
    pub(crate) async fn answer_batch(
        &self,
        route: Route,
        wire: Wire,
        request: Request<Incoming>,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut head, incoming) = request.into_parts();
        let bounds = self.client.bounds();
        let body = read(incoming, bounds, &self.buffers, &admitted.share).await?;
        let codings = codings(&head.headers).unwrap_or_default();
        let body = decode(body, &codings, bounds, &self.buffers, &admitted.share).await?;
        head.headers.remove(CONTENT_ENCODING);
        log.bytes_in = body.bytes.len() as u64;
        let turns = match route {
            Route::Batch(_) => messages_batch(&body.bytes),
            _ => uploaded_batch(&head.headers, &body.bytes),
        };
        let is_unread = turns.is_none() && matches!(route, Route::Batch(_));
        let turns = turns.unwrap_or_default();
        let limits = admitted.caller.named.as_ref().map(|caller| &caller.limits);
        if limits.is_some_and(|limits| limits.meters_turns()) && (is_unread || !turns.is_empty()) {
            return Err(Failure::NotMetered(NotMetered::Batch));
        }
        let repaired = self.repair_batch(&head, &body.bytes, &turns, route, admitted).await?;
        let RepairedBatch { pieces, fixes, passed, charges } = repaired;
        log.passed = passed.or(is_unread.then_some(Passed::UnreadableBody));
        let upstreams = &self.pipeline.planner.upstreams;
        let prefix = head.extensions.get::<NamedPrefix>();
        let upstream = upstreams.choose_for_path(wire, head.uri.path(), prefix);
        let upstream = upstream.ok_or_else(|| upstreams.refusal())?;
        upstream.check_key(&head.headers, head.uri.query())?;
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        log.expect(upstream, wire, 0, bytes);
        let uri = upstream.other(head.uri.path(), upstream.query(head.uri.query()).as_deref());
        headers::request(&mut head.headers);
        upstream.set_credentials(&mut head.headers, wire);
        head.headers.remove(CONTENT_LENGTH);
        let (mut outgoing, ()) = Request::new(()).into_parts();
        outgoing.method = Method::POST;
        outgoing.uri = uri.ok_or(Failure::BadPath)?;
        outgoing.headers = head.headers;
        if let Some(signer) = upstream.signer() {
            signer.sign(&mut outgoing, &pieces).await?;
        }
        let outgoing = Request::from_parts(outgoing, Outgoing::pieces(pieces));
        let reply = self.client.send(upstream, outgoing).await?;
        drop(charges);
        let mut reply = pass_on(reply);
        if !turns.is_empty() {
            reply_headers::say_fixes(reply.headers_mut(), &fixes);
            self.tally.add(fixes.counts(), &std::collections::BTreeMap::new());
            log.fixes = fixes;
        }
        Ok(reply)
    }

    /// Repairs each turn of a batch.
    async fn repair_batch(
        &self,
        head: &Parts,
        body: &Bytes,
        turns: &[BatchTurn],
        route: Route,
        admitted: &Admitted,
    ) -> Result<RepairedBatch, Failure> {
        let retention = headers::retention(&head.headers)?;
        let mut batch = RepairedBatch::default();
        let mut at = 0;
        for turn in turns {
            let Some(endpoint) = endpoint(turn, route) else {
                let path = turn.path.as_deref().unwrap_or_default();
                let is_harmless = photic::wire::holds_no_conversation(path);
                batch.passed = batch.passed.or((!is_harmless).then_some(Passed::UnknownPath));
                continue;
            };
            batch.pieces.push(body.slice(at..turn.body.start));
            at = turn.body.end;
            let whole = body.slice(turn.body.clone());
            let inbound = Arc::new(inbound(whole.into(), endpoint, head, retention, admitted));
            let (_, outbound) = Box::pin(self.repair(&inbound, admitted)).await?;
            let model = outbound.params.model.as_deref();
            Admission::check_model(&admitted.caller, model)?;
            if !outbound.upstream.serves(endpoint) {
                return Err(Refusal::OtherApi.into());
            }
            let is_unread = outbound.is_unread.then_some(Passed::UnreadableBody);
            batch.passed = batch.passed.or(is_unread);
            batch.pieces.extend(outbound.pieces);
            batch.fixes.add(&outbound.fixes);
            batch.charges.extend(outbound.charges);
        }
        batch.pieces.push(body.slice(at..));
        Ok(batch)
    }
}

/// Returns the endpoint of a turn in a batch, or `None` if its path is not known.
fn endpoint(turn: &BatchTurn, route: Route) -> Option<Endpoint> {
    match &turn.path {
        None => route.endpoint(),
        Some(path) => match Route::by_path(&Method::POST, path)? {
            Route::Turn(endpoint) => Some(endpoint),
            _ => None,
        },
    }
}

fn inbound(
    body: Body,
    endpoint: Endpoint,
    head: &Parts,
    retention: Option<Retention>,
    admitted: &Admitted,
) -> InboundRequest {
    InboundRequest {
        endpoint,
        prefix: head.extensions.get().cloned(),
        body,
        params: photic::wire::PathParams::default(),
        retention,
        identity: admitted.caller.identity.clone(),
        picking: Picking::none(),
    }
}
