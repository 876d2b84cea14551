//! The stages from plan to lower as one call, for jobs on pixels and for healing.

use std::sync::Arc;

use photic::json::Str;
use photic::{ShortenedBody, Survey};
use photic_store::SentBody;

use super::fetch::Fetcher;
use super::known_messages::KnownMessages;
use super::lower::{Keep, LoweredRequest, OutboundRequest, lower};
use super::plan::Planner;
use super::prepare::{PreparedRequest, Supplies, prepare};
use super::recall::RecalledRequest;
use crate::config::Serves;
use crate::http::{Failure, lift_part};
use crate::learned::Entry;
use crate::media::{Allowance, Derivatives, FetchedInputs, MissingInputs};
use crate::memory::Share;

/// Shared state of the repair pipeline: upstreams, profiles, lessons, caches.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) planner: Planner,
    pub(crate) fetcher: Fetcher,
    pub(crate) derivatives: Arc<Derivatives>,
    /// Set if logs or traces list every fix.
    pub(crate) details: bool,
    /// Set if turns are recorded.
    pub(crate) records: bool,
    /// The programs that the gateway serves.
    pub(crate) serves: Serves,
    /// Output tokens of a turn that does not limit them.
    pub(crate) reply_tokens: u32,
    /// The price of an output token, as a multiple of that of an input token.
    pub(crate) output_price: u32,
}

impl Pipeline {
    /// Returns the facts that are kept of each request.
    pub(super) fn keep(&self) -> Keep {
        let visible = self.counts_usage();
        Keep { details: self.details, record: self.records, visible }
    }

    /// Returns `true` if the usage of every reply, and every session, is counted.
    pub(super) fn counts_usage(&self) -> bool {
        self.serves == Serves::OneCommand
    }

    /// Repairs a request with the inputs that were fetched for it, and prepares images within the
    /// allowance. Returns `None` if no upstream serves it.
    pub(super) fn repair(
        &self,
        recalled: &RecalledRequest,
        inputs: &FetchedInputs,
        pixels: &Allowance,
        tried: &[Entry],
    ) -> Option<OutboundRequest> {
        let inbound = &recalled.inbound;
        let (transcript, findings) = inbound.lift();
        if !transcript.is_readable() {
            let model = transcript.settings.model.as_ref().map(Str::decode);
            let upstream = self.planner.upstream(inbound, &transcript)?;
            return Some(OutboundRequest::unchanged(inbound, upstream, model.as_deref()));
        }
        let target = self.planner.target(&transcript, inbound, tried)?;
        let planned = self.planner.plan(&target, transcript, recalled, &self.fetcher.remote);
        let supplies = Supplies { inputs, pixels: Some(pixels) };
        let prepared = prepare(&target, planned, supplies, &self.fetcher.remote, &self.derivatives);
        let lowered = lower(&prepared);
        let hashes = lowered.hashes_before_sending(self.keep());
        let mut outbound = lowered.into_outbound(inbound, &findings, self.keep(), SentBody::of);
        if let Some(record) = &mut outbound.record {
            record.hashes = hashes;
        }
        Some(outbound)
    }

    /// Fetches the inputs that a request needs under the lessons that are being tried.
    pub(super) async fn fetch_trying(
        &self,
        recalled: &RecalledRequest,
        tried: &[Entry],
        share: &Share,
    ) -> Result<FetchedInputs, Failure> {
        let missing = self.missing(recalled, tried);
        self.fetcher.fetch(recalled, &missing, share).await
    }

    fn missing(&self, recalled: &RecalledRequest, tried: &[Entry]) -> MissingInputs {
        let (transcript, _) = recalled.inbound.lift();
        if !transcript.is_readable() {
            return MissingInputs::default();
        }
        let target = self.planner.target(&transcript, &recalled.inbound, tried);
        target.map_or_else(MissingInputs::default, |target| {
            self.planner.plan(&target, transcript, recalled, &self.fetcher.remote).missing
        })
    }

    /// Plans a request again as it was sent to a target, given the request without the messages that
    /// were left out, and passes the plan of the whole request to `finish`.
    pub(super) fn plan_part<T>(
        &self,
        recalled: &RecalledRequest,
        target: &super::plan::Target,
        shortened: &ShortenedBody,
        messages: &KnownMessages,
        finish: impl FnOnce(&PreparedRequest<'_>) -> T,
    ) -> Option<T> {
        let inbound = &recalled.inbound;
        let (transcript, _) = lift_part(&shortened.body, inbound.endpoint.wire, &inbound.params);
        if !transcript.is_readable() {
            return None;
        }
        let (planner, remote) = (&self.planner, &self.fetcher.remote);
        let complete = |survey: &mut Survey| messages.put_into(survey, shortened.left_out());
        let planned = planner.plan_surveyed(target, transcript, recalled, remote, complete);
        if !planned.needs_no_pixels() {
            return None;
        }
        Some(finish(&PreparedRequest::of_plan(target, planned)))
    }

    /// Repairs a request again as it was sent to a target, and passes it to `finish`.
    pub(super) fn remake<T>(
        &self,
        recalled: &RecalledRequest,
        target: &super::plan::Target,
        supplies: Option<Supplies<'_>>,
        finish: impl FnOnce(&PreparedRequest<'_>, Option<LoweredRequest<'_, '_>>) -> T,
    ) -> Option<T> {
        let (transcript, _) = recalled.inbound.lift();
        if !transcript.is_readable() {
            return None;
        }
        let planned = self.planner.plan(target, transcript, recalled, &self.fetcher.remote);
        Some(match supplies {
            None => finish(&PreparedRequest::of_plan(target, planned), None),
            Some(supplies) => {
                let prepared =
                    prepare(target, planned, supplies, &self.fetcher.remote, &self.derivatives);
                let lowered = lower(&prepared);
                finish(&prepared, Some(lowered))
            }
        })
    }
}
