//! A turn that goes on with a conversation of which all earlier turns need nothing.
//!
//! It goes through the stages from recall to lower without the messages that are known. If its new
//! messages need nothing either, the whole request is sent as it came; otherwise it is read whole.

use std::sync::Arc;

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
        let found = conversations.find(inbound)?;
        let recalled = RecalledRequest::without_store(inbound, admitted.caller.tenant.clone());
        let wire = inbound.endpoint.wire;
        let (transcript, findings) = lift_part(&found.shortened.body, wire, &inbound.params);
        if !transcript.is_readable() {
            return None;
        }
        let planner = &self.pipeline.planner;
        let target = planner.target(&transcript, inbound, &[])?;
        let remote = &self.pipeline.fetcher.remote;
        let planned = planner.plan(&target, transcript, &recalled, remote);
        let prepared = PreparedRequest::of_plan(&target, planned);
        let lowered = lower(&prepared);
        if !conversations.extend(inbound, &found, &lowered, &findings) {
            return None;
        }
        let outbound = lowered.into_outbound(inbound, &findings, self.pipeline.keep());
        drop(prepared);
        let whole = inbound.body.bytes.clone();
        let tokens = text_tokens(whole.len() as u64);
        Some((Arc::new(recalled), OutboundRequest { pieces: vec![whole], tokens, ..outbound }))
    }
}
