//! A turn that goes on with a conversation of which most earlier turns need nothing.
//!
//! It goes through the stages from recall to lower without the turns that are known. What the
//! stages did is then done to the whole request. If that is not certain to be the same, the request
//! is read whole.

use std::sync::Arc;

use photic::Transcript;
use photic::json::Segments;
use photic::transcript::Role;
use photic_store::SentBody;

use super::known_messages::RecordedPart;
use super::lower::{LoweredRequest, OutboundRequest, lower};
use super::prepare::PreparedRequest;
use super::read::InboundRequest;
use super::recall::RecalledRequest;
use super::turns::Turns;
use crate::http::lift_part;
use crate::tenant::Admitted;

impl Turns {
    /// Returns a turn as it is sent, if its conversation is known.
    pub(super) async fn continued(
        &self,
        inbound: &Arc<InboundRequest>,
        admitted: &Admitted,
    ) -> Option<(Arc<RecalledRequest>, OutboundRequest)> {
        let conversations = self.conversations.as_ref()?;
        let (shortened, known, _charge) = conversations.find(inbound, &admitted.share)?;
        let wire = inbound.endpoint.wire;
        let (transcript, findings) = lift_part(&shortened.body, wire, &inbound.params);
        if !transcript.is_readable() {
            return None;
        }
        let planner = &self.pipeline.planner;
        let target = planner.target(&transcript, inbound, &[])?;
        if target.profile.fingerprint != known.profile {
            return None;
        }
        let (before, left_out) = (known.messages.clone(), shortened.left_out());
        let tenant = admitted.caller.tenant.clone();
        let recalled = match &self.recall {
            None => RecalledRequest::without_store(inbound, tenant),
            // Bytes that references name are loaded where the request is read whole.
            Some(_) if !photic::references(&transcript).is_empty() => return None,
            // Without a reply behind the gap it cannot go on there, and looks like one that begins.
            Some(_) if !has_reply(&transcript) => return None,
            Some(recall) => {
                let keys = before.as_ref()?.keys(&tenant, &transcript, left_out)?;
                Box::pin(recall.recall(inbound, tenant, &transcript, keys)).await.ok()?
            }
        };
        let remote = &self.pipeline.fetcher.remote;
        let planned = planner.plan(&target, transcript, &recalled, remote);
        if !planned.needs_no_pixels() {
            return None;
        }
        let prepared = PreparedRequest::of_plan(&target, planned);
        let lowered = lower(&prepared);
        // Those of what was read. The others are known.
        let hashes = lowered.hashes(self.pipeline.keep());
        let read = lowered.read(&findings);
        let messages = match &before {
            None => None,
            Some(before) => {
                let survey = &prepared.plan.survey;
                Some(before.extended(&recalled.context, survey, left_out)?)
            }
        };
        let compared = known.compared(left_out);
        let end = conversations.extend(inbound, (&shortened, known), &read, messages.clone())?;
        let tokens = shortened.tokens(&read);
        let (lowered, findings) = shortened.put_back(&read, &inbound.body.bytes);
        let whole = LoweredRequest { prepared: &prepared, lowered };
        let hash = |sent: &Segments<'_>| match &messages {
            Some(messages) => {
                let known = (before.as_deref(), compared);
                messages.hash(sent, (&inbound.body.bytes, end), known)
            }
            None => SentBody::of(sent),
        };
        let mut outbound = whole.into_outbound(inbound, &findings, self.pipeline.keep(), hash);
        outbound.tokens = tokens;
        if let Some(record) = &mut outbound.record {
            let left_out = left_out.clone();
            record.part = before.map(|before| RecordedPart { before, left_out });
            record.messages = messages;
            record.hashes = hashes;
        }
        drop(prepared);
        Some((Arc::new(recalled), outbound))
    }
}

/// Returns `true` if a model has spoken in a request.
fn has_reply(transcript: &Transcript<'_>) -> bool {
    transcript.messages.iter().any(|message| message.role == Role::Assistant)
}
