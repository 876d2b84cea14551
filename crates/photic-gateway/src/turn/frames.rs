//! Turns that come as frames of a WebSocket instead of as requests.
//!
//! A frame goes through the stages of a request up to **lower**. The socket sends it, and passes its
//! reply on. A rejected frame is healed like a request, with one difference: the upstream forgets the
//! conversation before a rejected frame, so the whole conversation is sent instead.

use std::sync::Arc;

use bytes::Bytes;
use photic::Wire;
use photic::rejection::{Class, classify};
use photic::reply::Usage;
use photic::retention::Retention;
use photic::wire::PathParams;

use super::diagnosis::Diagnosis;
use super::heal::{Circumstances, Healer, MAX_RETRIES, Tried, may_blame_media};
use super::lower::OutboundRequest;
use super::picking::Picking;
use super::read::InboundRequest;
use super::recall::RecalledRequest;
use super::turns::Turns;
use crate::config::NamedPrefix;
use crate::http::{Body, Failure};
use crate::learned::Entry;
use crate::observe::{Outcome, RequestLog, TurnPrice};
use crate::tenant::{Admission, Admitted, Caller};
use crate::upstream::Upstream;

/// A turn that came as a frame, repaired.
#[derive(Debug)]
pub(crate) struct FrameTurn {
    recalled: Arc<RecalledRequest>,
    outbound: OutboundRequest,
    tried: Tried,
    /// The rejections that it was healed of.
    healed: Vec<Class>,
}

/// The rejection of a frame.
#[derive(Debug)]
pub(crate) struct FrameRejection {
    pub(crate) status: u16,
    /// The frame that says so.
    pub(crate) text: String,
    /// Texts beside the frame that the endpoint may have quoted.
    pub(crate) quotable: Vec<String>,
}

/// The result of healing a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameHealing {
    /// It was repaired further, and can be sent again.
    Healed,
    /// The rejection is not about its media.
    Unrelated,
    /// The rejection is about its media, and no repair would change that.
    NothingHelps,
}

impl FrameTurn {
    /// Returns the frame to send.
    pub(crate) fn pieces(&self) -> Vec<Bytes> {
        self.outbound.pieces.clone()
    }

    /// Returns the number of images that it shows.
    pub(crate) const fn images(&self) -> u32 {
        self.outbound.facts.images.shown()
    }

    /// Returns the most images that its endpoint accepts, if that is known.
    pub(crate) const fn max_images(&self) -> Option<u32> {
        self.outbound.max_images
    }

    /// Returns the upstream that serves its model.
    pub(crate) const fn upstream(&self) -> &Arc<Upstream> {
        &self.outbound.upstream
    }

    /// Returns `true` if it was changed.
    pub(crate) fn is_changed(&self) -> bool {
        !self.outbound.fixes.counts().is_empty()
    }

    /// Takes the lessons that it was healed by, to be remembered now that it was accepted.
    pub(crate) fn take_lessons(&mut self) -> Option<Vec<Entry>> {
        let Tried { entries, is_echo } = std::mem::take(&mut self.tried);
        Some(entries).filter(|entries| !entries.is_empty() && !is_echo)
    }

    /// Writes to a log what is known of it before it is sent.
    pub(crate) fn describe(&self, log: &mut RequestLog) {
        let OutboundRequest { upstream, wire, tokens, facts, .. } = &self.outbound;
        log.expect(upstream, *wire, *tokens, self.outbound.bytes());
        log.facts.take_summary(facts);
    }
}

/// Returns `true` if a rejection is about media, so that a frame with some may be healed of it.
pub(crate) fn blames_media(status: u16, text: &str) -> bool {
    classify(Some(status), text).class != Class::Unrelated && may_blame(status)
}

impl Turns {
    /// Repairs a frame of a socket that was opened behind a path prefix, or behind none.
    ///
    /// # Errors
    ///
    /// Fails like a request.
    pub(crate) async fn repair_frame(
        &self,
        body: Body,
        prefix: Option<NamedPrefix>,
        retention: Option<Retention>,
        admitted: &Admitted,
    ) -> Result<FrameTurn, Failure> {
        let inbound = Arc::new(inbound(body, prefix, retention, admitted));
        let (recalled, outbound) = Box::pin(self.repair(&inbound, admitted)).await?;
        Admission::check_model(&admitted.caller, outbound.params.model.as_deref())?;
        Ok(FrameTurn { recalled, outbound, tried: Tried::default(), healed: Vec::new() })
    }

    /// Repairs a rejected frame further. `whole` is the conversation up to the frame, if the frame
    /// continued one.
    pub(crate) async fn heal_frame(
        &self,
        turn: &mut FrameTurn,
        whole: Option<Body>,
        rejected: FrameRejection,
        admitted: &Admitted,
    ) -> FrameHealing {
        let FrameRejection { status, text, quotable } = rejected;
        let rejection = classify(Some(status), &text);
        let class = rejection.class;
        let is_ours = class != Class::Unrelated && may_blame(status);
        if !is_ours {
            return FrameHealing::Unrelated;
        }
        if turn.healed.len() >= MAX_RETRIES || turn.outbound.media.is_none() {
            return FrameHealing::NothingHelps;
        }
        let was_whole = whole.is_none();
        let recalled = match whole {
            None => Arc::clone(&turn.recalled),
            Some(body) => {
                let InboundRequest { prefix, retention, .. } = &*turn.recalled.inbound;
                let inbound = Arc::new(inbound(body, prefix.clone(), *retention, admitted));
                let (transcript, _) = inbound.lift();
                let Ok(recalled) = self.recalled(&inbound, &transcript, admitted).await else {
                    return FrameHealing::NothingHelps;
                };
                recalled
            }
        };
        let around = Circumstances { share: &admitted.share, quotable, was_whole };
        let tries = turn.healed.len();
        let diagnosis = Diagnosis { status, answer: text, rejection, tries };
        let FrameTurn { outbound, tried, .. } = turn;
        let healer = self.healer();
        let Some(better) = healer.heal(around, &recalled, outbound, tried, diagnosis).await else {
            return FrameHealing::NothingHelps;
        };
        turn.outbound = better;
        turn.recalled = recalled;
        turn.healed.push(class);
        FrameHealing::Healed
    }

    /// Remembers the lessons of a frame.
    pub(crate) async fn remember(&self, lessons: Vec<Entry>) {
        self.healer().remember(lessons).await;
    }

    /// Counts a frame whose reply has ended, and writes it to the audit.
    pub(crate) async fn frame_ended(
        &self,
        turn: FrameTurn,
        usage: Option<Usage>,
        caller: &Caller,
        log: &mut RequestLog,
    ) {
        turn.describe(log);
        let FrameTurn { outbound, healed, .. } = turn;
        log.facts = outbound.facts;
        log.fixes = outbound.fixes;
        self.tally.add(log.fixes.counts(), &log.facts.retired);
        self.tally.show(&log.facts.made_visible);
        if log.caller.is_some() {
            let factor = self.pipeline.output_price;
            log.price = Some(TurnPrice::of(outbound.profile.as_ref(), factor));
        }
        let outcome = Outcome { healed, profile: outbound.profile, ..Outcome::default() };
        if let Some(usage) = usage {
            let _ = outcome.usage.set(usage);
        }
        log.outcome = Some(Arc::new(outcome));
        self.audit(caller, log, None).await;
    }

    fn healer(&self) -> Healer<'_> {
        Healer { client: &self.client, pipeline: &self.pipeline, pixels: &self.pixels }
    }
}

/// Returns the turn of a frame.
fn inbound(
    body: Body,
    prefix: Option<NamedPrefix>,
    retention: Option<Retention>,
    admitted: &Admitted,
) -> InboundRequest {
    let identity = admitted.caller.identity.clone();
    let params = PathParams::default();
    let endpoint = Wire::OpenAiResponses.into();
    InboundRequest { endpoint, prefix, body, params, retention, identity, picking: Picking::none() }
}

fn may_blame(status: u16) -> bool {
    http::StatusCode::from_u16(status).is_ok_and(may_blame_media)
}
