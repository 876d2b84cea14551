//! A turn of a conversation from its request to its reply, stage by stage.

use std::sync::Arc;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use photic::Transcript;
use photic::json::{Segments, Str};
use photic_store::{ConversationKeys, SentBody};

use super::attempted::{Attempted, SentRequest};
use super::audit;
use super::client_words::{Recovering, client};
use super::conversations::Conversations;
use super::heal::Healer;
use super::kept_reply::KeptReply;
use super::known_messages::KnownMessages;
use super::lower::{OutboundRequest, lower};
use super::pipeline::Pipeline;
use super::prepare::{Supplies, prepare};
use super::read::{InboundRequest, Repair, read};
use super::recall::{Recall, RecalledRequest};
use super::record::TurnRecorder;
use super::reply::{Client, estimate, passes, provider_request, reply, watch};
use super::reply_headers;
use super::send::{AnsweredRequest, Delivery, send};
use super::server_state;
use crate::future::BoxFuture;
use crate::http::{Body, Failure, Passed, Refusal, ReplyBody, Route, codings, decode};
use crate::media::{Allowance, FetchedInputs, MissingInputs, PixelWork};
use crate::memory::{Buffers, Share};
use crate::observe::{Outcome, RequestLog, Tally};
use crate::record::{Conclusion, Turn};
use crate::tenant::{Admission, Admitted, Caller};
use crate::upstream::{UpstreamClient, pass_on};

/// Answers turns of conversations, and requests that count the tokens of a turn.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) buffers: Arc<Buffers>,
    /// Set if sessions are recorded.
    pub(crate) recall: Option<Recall>,
    /// The beginnings of conversations.
    pub(crate) conversations: Option<Arc<Conversations>>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) pixels: Arc<PixelWork>,
    pub(crate) client: Arc<UpstreamClient>,
    /// Set if sessions are recorded.
    pub(crate) recorder: Option<TurnRecorder>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) tally: Arc<Tally>,
}

impl Turns {
    /// Answers a request.
    pub(crate) async fn answer(
        &self,
        route: Route,
        repair: Repair,
        request: Request<Incoming>,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut head, incoming) = request.into_parts();
        log.conclusion = self.conclusion(&admitted.caller, &head.headers);
        let bounds = self.client.bounds();
        let body = read(incoming, bounds, &self.buffers, &admitted.share).await?;
        let codings = codings(&head.headers).unwrap_or_default();
        let body = if codings.is_empty() {
            body
        } else {
            Box::pin(decode(body, &codings, bounds, &self.buffers, &admitted.share)).await?
        };
        // From here on the body is plain, and is sent so.
        head.headers.remove(CONTENT_ENCODING);
        Box::pin(self.answer_read(route, repair, (&mut head, body), admitted, log)).await
    }

    /// Answers a request whose body was read.
    pub(crate) async fn answer_read(
        &self,
        route: Route,
        repair: Repair,
        (head, body): (&mut Parts, Body),
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        log.bytes_in = body.bytes.len() as u64;
        if log.conclusion.is_none() {
            log.conclusion = self.conclusion(&admitted.caller, &head.headers);
        }
        let inbound = InboundRequest::new(head, body, route, repair, &admitted.caller)?;
        let inbound = Arc::new(inbound);
        let caller = inbound.endpoint;
        let uri = head.uri.clone();
        let answered = self.until_answered((route, repair), inbound, head, admitted, log);
        let (attempted, trail) = Box::pin(answered).await;
        let trail = trail.map(Box::new);
        let sent = match attempted? {
            Attempted::Sent(sent) => sent,
            Attempted::Estimated(reply) => return Ok(*reply),
        };
        let SentRequest { answered, mut outbound, to_record, recovering } = *sent;
        let AnsweredRequest { reply: received, outcome } = answered;
        let reads_usage = self.reads_usage(route, log);
        log.provider_request = provider_request(received.headers());
        log.facts = std::mem::take(&mut outbound.facts);
        log.fixes = std::mem::take(&mut outbound.fixes);
        log.tokens = outbound.tokens;
        let is_success = received.status().is_success();
        let turn = match (&self.recorder, to_record, outbound.record.take()) {
            (Some(recorder), Some(recalled), Some(request)) if is_success => {
                let missing = std::mem::take(&mut outbound.missing);
                let (share, conclusion) = (admitted.share.clone(), log.conclusion.as_deref_mut());
                Box::pin(recorder.record(recalled, request, missing, share, conclusion)).await
            }
            _ => None,
        };
        let outcome = outcome.or_else(|| reads_usage.then(Outcome::default));
        let profile = outbound.profile.take();
        let outcome = outcome.map(|outcome| Arc::new(Outcome { profile, ..outcome }));
        let received = match &outcome {
            Some(outcome) if is_success && route.is_turn() => {
                let learned = &self.pipeline.planner.learned;
                let kept = self.kept_reply(received.headers(), &admitted.share);
                watch(received, &mut outbound, outcome, kept, &admitted.caller, learned)
            }
            _ => received,
        };
        let to = Client { endpoint: caller, uri: &uri, recovering };
        let mut reply = if passes(&received, &outbound, caller) {
            pass_on(received)
        } else {
            Box::pin(reply(received, outbound, to, &admitted.share)).await?
        };
        if log.passed.is_none() {
            reply_headers::say_fixes(reply.headers_mut(), &log.fixes);
            reply_headers::say_left(reply.headers_mut(), &log.facts);
            self.tally.add(log.fixes.counts(), &log.facts.retired);
            if is_success {
                self.tally.show(&log.facts.made_visible);
            }
        }
        if let Some(trail) = trail {
            reply_headers::say_upstream(reply.headers_mut(), &trail);
        }
        if let Some(outcome) = outcome {
            reply_headers::say_healed(reply.headers_mut(), &outcome.healed);
            log.outcome = Some(outcome);
        }
        if self.audit(&admitted.caller, log, turn.as_ref()).await
            && let Some(turn) = turn
        {
            reply_headers::say_turn(reply.headers_mut(), &turn);
        }
        Ok(reply)
    }

    /// Prepares the outcome of a request for the record, if there is one.
    pub(crate) fn conclusion(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
    ) -> Option<Box<Conclusion>> {
        let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes);
        self.recorder.as_ref()?.recorder.begin(&caller.tenant, agent)
    }

    /// Returns `true` if the usage of the reply to a request is read, although it shows no media. A
    /// record has the usage of every turn.
    fn reads_usage(&self, route: Route, log: &RequestLog) -> bool {
        let is_wanted =
            self.pipeline.counts_usage() || self.recorder.is_some() || log.wants_usage();
        is_wanted && route.is_turn()
    }

    /// Begins to keep a reply, if replies are recorded.
    fn kept_reply(&self, headers: &HeaderMap, share: &Share) -> Option<KeptReply> {
        self.recorder.as_ref().filter(|one| one.recorder.replies)?;
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Some(KeptReply::new(media_type.unwrap_or_default().to_owned(), share))
    }

    /// Repairs a request and sends it to one upstream.
    pub(super) async fn attempt(
        &self,
        (route, repair): (Route, Repair),
        inbound: Arc<InboundRequest>,
        head: &mut Parts,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<Attempted, Failure> {
        let (recalled, mut outbound) = match repair {
            Repair::Off => {
                log.passed = Some(Passed::Off);
                (None, self.unchanged(&inbound)?)
            }
            Repair::On => {
                let (recalled, mut outbound) = Box::pin(self.repair(&inbound, admitted)).await?;
                let is_count = matches!(route, Route::CountTokens(_));
                // What is counted may be a part of a conversation, such as a result without its call.
                if is_count
                    && outbound.upstream.serves(inbound.endpoint)
                    && !outbound.fixes.touch_media()
                {
                    let is_unread = outbound.is_unread;
                    outbound = OutboundRequest { is_unread, ..self.unchanged(&inbound)? };
                }
                log.passed = outbound.is_unread.then_some(Passed::UnreadableBody);
                (Some(recalled), outbound)
            }
        };
        if admitted.caller.named.is_some() {
            Box::pin(self.reserve(&inbound, &outbound, route, admitted, log)).await?;
        }
        let caller = inbound.endpoint;
        // Taken before healing withholds media.
        let shows_media = outbound.media.is_some();
        let recovering =
            client(caller.wire, &head.headers).map(|client| Recovering { client, shows_media });
        let is_again = inbound.picking.is_again();
        if let Some(picked) = inbound.picking.picked().filter(|picked| !picked.pause.is_zero()) {
            Box::pin(self.wait_for(picked)).await?;
        }
        drop(inbound);
        log.expect(&outbound.upstream, outbound.wire, outbound.tokens, outbound.bytes());
        log.facts.take_summary(&outbound.facts);
        if !is_again {
            self.tally.add_cost(log.bytes_in, log.bytes_sent, log.begun.elapsed());
        }
        log.max_tokens = outbound.max_tokens;
        // A body changes when its envelope is taken off, which one that was not read must not.
        let is_unwrapped = outbound.wire == caller.wire && !outbound.upstream.serves(caller);
        if is_unwrapped && log.passed.is_some() {
            return Err(Refusal::OtherApi.into());
        }
        if !outbound.upstream.serves(caller) && !route.is_turn() {
            return match route {
                Route::CountTokens(_) => {
                    Ok(Attempted::Estimated(Box::new(estimate(&outbound, caller))))
                }
                _ => Err(Refusal::OtherApi.into()),
            };
        }
        if let Some(conclusion) = &mut log.conclusion {
            let session = recalled.as_ref().and_then(|recalled| recalled.context.session.as_ref());
            conclusion.opened(session, log.id, log.bytes_in);
        }
        let to_record = recalled.clone().filter(|_| route.is_turn() && self.recorder.is_some());
        let reads_usage = self.reads_usage(route, log);
        let sending = {
            let share = &admitted.share;
            let mut delivery = Delivery::new(head, caller, &outbound, recalled, share);
            if reads_usage {
                delivery.reads_reply();
            }
            self.send(delivery, &mut outbound)
        };
        let answered = sending.await;
        log.attempts.append(&mut outbound.attempts);
        let answered = answered?;
        Ok(Attempted::Sent(Box::new(SentRequest { answered, outbound, to_record, recovering })))
    }

    /// Creates a request that is sent unchanged, to the upstream of its model.
    fn unchanged(&self, inbound: &InboundRequest) -> Result<OutboundRequest, Failure> {
        let (transcript, _) = inbound.lift();
        let model = transcript.settings.model.as_ref().map(Str::decode);
        let planner = &self.pipeline.planner;
        let upstream = planner.upstream(inbound, &transcript);
        let upstream = upstream.ok_or_else(|| planner.upstreams.refusal())?;
        Ok(OutboundRequest::unchanged(inbound, upstream, model.as_deref()))
    }

    /// Recalls, plans, fetches, prepares and lowers a turn.
    pub(super) async fn repair(
        &self,
        inbound: &Arc<InboundRequest>,
        admitted: &Admitted,
    ) -> Result<(Arc<RecalledRequest>, OutboundRequest), Failure> {
        if let Some(continued) = Box::pin(self.continued(inbound, admitted)).await {
            return Ok(continued);
        }
        let Pipeline { planner, fetcher, derivatives, .. } = &*self.pipeline;
        let (recalled, target);
        // In a block of its own, so that the future does not hold the transcript beside the plan.
        let (planned, findings) = {
            let (transcript, findings) = inbound.lift();
            recalled = Box::pin(self.recalled(inbound, &transcript, admitted)).await?;
            if !transcript.is_readable() {
                return Ok((recalled, self.unchanged(inbound)?));
            }
            let found = planner.target(&transcript, inbound, &[]);
            target = found.ok_or_else(|| planner.upstreams.refusal())?;
            server_state::check_whole(&transcript, target.upstream.speaks(inbound.endpoint))?;
            let planned = planner.plan(&target, transcript, &recalled, &fetcher.remote);
            (planned, findings.into_boxed_slice())
        };
        if !planned.needs_no_pixels() {
            let missing = planned.missing;
            let repaired = self.repair_with_pixels(&recalled, &missing, admitted);
            let outbound = Box::pin(repaired).await?;
            return Ok((recalled, outbound));
        }
        // No address is missing, so only bytes of references may be.
        let mut inputs = if planned.missing.blobs.is_empty() {
            FetchedInputs::default()
        } else {
            Box::pin(fetcher.fetch(&recalled, &planned.missing, &admitted.share)).await?
        };
        if inputs.pictures.away {
            return Err(Failure::StoreAway);
        }
        let charges = inputs.take_charges();
        let supplies = Supplies { inputs: &inputs, pixels: None };
        let prepared = prepare(&target, planned, supplies, &fetcher.remote, derivatives);
        let lowered = lower(&prepared);
        let (mut messages, mut end) = (None, None);
        if let Some(conversations) = &self.conversations {
            let profile = target.profile.fingerprint;
            messages = KnownMessages::of(&recalled.context, &prepared.plan.survey);
            let (share, read) = (&admitted.share, lowered.read(&findings));
            end = conversations.keep(inbound, share, profile, &read, messages.clone());
        }
        let hash = |sent: &Segments<'_>| match messages.as_deref().zip(end) {
            Some((messages, end)) => messages.hash(sent, (&inbound.body.bytes, end), (None, 0)),
            None => SentBody::of(sent),
        };
        let hashes = lowered.hashes_before_sending(self.pipeline.keep());
        let mut outbound = lowered.into_outbound(inbound, &findings, self.pipeline.keep(), hash);
        outbound.charges = charges;
        if let Some(record) = &mut outbound.record {
            record.messages = messages;
            record.hashes = hashes;
        }
        drop(prepared);
        Ok((recalled, outbound))
    }

    /// Looks up the session of a turn, if sessions are recorded.
    pub(super) async fn recalled(
        &self,
        inbound: &Arc<InboundRequest>,
        transcript: &Transcript<'_>,
        admitted: &Admitted,
    ) -> Result<Arc<RecalledRequest>, Failure> {
        let tenant = admitted.caller.tenant.clone();
        Ok(Arc::new(match &self.recall {
            Some(recall) => {
                let keys = ConversationKeys::of(&tenant, transcript);
                recall.recall(inbound, tenant, transcript, keys).await?
            }
            None => RecalledRequest::without_store(inbound, tenant),
        }))
    }

    /// Fetches the inputs of a turn, then plans, prepares and lowers it on a thread for pixels.
    async fn repair_with_pixels(
        &self,
        recalled: &Arc<RecalledRequest>,
        missing: &MissingInputs,
        admitted: &Admitted,
    ) -> Result<OutboundRequest, Failure> {
        // Fetched before a job slot is taken, because the network is slow.
        let fetcher = &self.pipeline.fetcher;
        let mut inputs = fetcher.fetch(recalled, missing, &admitted.share).await?;
        if inputs.pictures.away {
            return Err(Failure::StoreAway);
        }
        // A request is charged once, however often it is sent.
        if !recalled.inbound.picking.is_again() {
            self.admission.spend_pixels(&admitted.caller, inputs.pixels).await?;
        }
        let (pipeline, shared) = (Arc::clone(&self.pipeline), Arc::clone(recalled));
        let charges = inputs.take_charges();
        let work = move |allowance: &Allowance| pipeline.repair(&shared, &inputs, allowance, &[]);
        let (outbound, charge) = self.pixels.run(&admitted.share, work).await?;
        let mut outbound = outbound.ok_or(Failure::Broken)?;
        outbound.charges = charges;
        outbound.charges.push(charge);
        Ok(outbound)
    }

    /// Sends a request, and drops its body. A rejected request with media is healed, and is then the
    /// one that was sent last.
    pub(super) fn send<'s>(
        &'s self,
        mut delivery: Delivery<'s>,
        outbound: &'s mut OutboundRequest,
    ) -> BoxFuture<'s, Result<AnsweredRequest, Failure>> {
        match delivery.recalled.take().filter(|_| outbound.media.is_some()) {
            None => Box::pin(send(&self.client, delivery, outbound)),
            Some(recalled) => {
                let (client, pipeline, pixels) = (&*self.client, &self.pipeline, &*self.pixels);
                let healer = Healer { client, pipeline, pixels };
                Box::pin(healer.send(delivery, recalled, outbound))
            }
        }
    }

    /// Writes a turn to the audit. Returns `false` if the reply waits for that and it failed.
    pub(super) async fn audit(
        &self,
        caller: &Caller,
        log: &RequestLog,
        turn: Option<&Turn>,
    ) -> bool {
        let Some(auditing) = self.admission.auditing() else { return true };
        let entries = audit::entries(caller, log, turn);
        if turn.is_some() {
            return Box::pin(auditing.write(caller, entries)).await;
        }
        auditing.note(caller, entries);
        true
    }
}
