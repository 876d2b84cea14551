//! A turn that goes on with a conversation of which all earlier turns need nothing.
//!
//! It goes through the stages from recall to lower without the messages that are known. If its new
//! messages need nothing either, the whole request is sent as it came; otherwise it is read whole.

use std::sync::Arc;

use photic::json::Segments;
use photic::tokens::text_tokens;

use super::lower::{OutboundRequest, lower};
use super::prepare::PreparedRequest;
use super::read::InboundRequest;
use super::recall::RecalledRequest;
use super::turns::Turns;
use crate::http::lift_part;
use crate::tenant::Admitted;

impl Turns {
    /// Returns a turn as it is sent, if its conversation is known and needs nothing.
    pub(super) fn continued(
        &self,
        inbound: &Arc<InboundRequest>,
        admitted: &Admitted,
    ) -> Option<(Arc<RecalledRequest>, OutboundRequest)> {
        let conversations = self.conversations.as_ref()?;
        let (shortened, known) = conversations.find(inbound, &admitted.share)?;
        let recalled = RecalledRequest::without_store(inbound, admitted.caller.tenant.clone());
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
        let remote = &self.pipeline.fetcher.remote;
        let planned = planner.plan(&target, transcript, &recalled, remote);
        let prepared = PreparedRequest::of_plan(&target, planned);
        let mut lowered = lower(&prepared);
        if !conversations.extend(inbound, (&shortened, known), &lowered, &findings) {
            return None;
        }
        lowered.lowered.body = Segments::whole(&inbound.body.bytes);
        let outbound = lowered.into_outbound(inbound, &findings, self.pipeline.keep());
        drop(prepared);
        let tokens = text_tokens(inbound.body.bytes.len() as u64);
        Some((Arc::new(recalled), OutboundRequest { tokens, ..outbound }))
    }
}
