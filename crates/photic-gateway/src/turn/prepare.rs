//! Stage **prepare**: puts fetched inputs into the transcript, plans again if they change the plan,
//! and prepares the images that the plan needs.

use std::borrow::Cow;

use photic::{Plan, Policy, Prepared, Transcript};

use super::plan::{PlannedRequest, Target};
use crate::media::{self, Allowance, Derivatives, FetchedInputs, MissingInputs, RemoteMedia};
use crate::record::Named;

/// A request whose images are prepared.
#[derive(Debug)]
pub(super) struct PreparedRequest<'w> {
    pub(super) target: &'w Target,
    pub(super) transcript: Transcript<'w>,
    pub(super) policy: Cow<'w, Policy>,
    pub(super) named: Named<'w>,
    pub(super) plan: Plan<'w>,
    pub(super) prepared: Prepared,
    /// Set if the request follows from its body and its session alone, without fetched or prepared
    /// images.
    pub(super) is_settled: bool,
    pub(super) missing: MissingInputs,
}

/// The inputs with which a plan is carried out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supplies<'f> {
    pub(super) inputs: &'f FetchedInputs,
    /// The memory and time for work on pixels. Without it, no image is prepared.
    pub(super) pixels: Option<&'f Allowance>,
}

impl<'w> PreparedRequest<'w> {
    /// Creates a request that needs no pixels, as it was planned.
    pub(super) fn of_plan(target: &'w Target, planned: PlannedRequest<'w>) -> Self {
        let PlannedRequest { transcript, policy, named, plan, missing, .. } = planned;
        let prepared = Prepared::new();
        Self { target, transcript, policy, named, plan, prepared, is_settled: true, missing }
    }
}

/// Prepares a planned request.
pub(super) fn prepare<'w>(
    target: &'w Target,
    planned: PlannedRequest<'w>,
    supplies: Supplies<'w>,
    remote: &RemoteMedia,
    derivatives: &Derivatives,
) -> PreparedRequest<'w> {
    let needs_no_pixels = planned.needs_no_pixels();
    let Supplies { inputs, pixels } = supplies;
    let PlannedRequest { mut transcript, context, identity, policy, named, mut plan, missing } =
        planned;
    if !missing.addresses.is_empty() {
        inputs.remote.put_into(&mut transcript, &plan, remote);
        plan = target.plan(&transcript, &policy, context, &named);
    }
    let mut are_here = true;
    if !media::wanted(&named, &plan).is_empty() {
        are_here = inputs.pictures.put_into(&mut transcript, &named, &plan);
        if !are_here {
            plan = target.plan(&transcript, &policy, context, &named);
        }
    }
    let mut prepared = match pixels.filter(|_| !plan.recipes.is_empty()) {
        Some(pixels) => {
            let fingerprint = &target.profile.fingerprint;
            derivatives.prepare(&transcript, &plan, identity, fingerprint, pixels)
        }
        None => Prepared::new(),
    };
    if let Some(lessons) = &target.lessons {
        lessons.quarantine.withhold_made(&mut prepared);
    }
    let is_settled = needs_no_pixels && are_here;
    PreparedRequest { target, transcript, policy, named, plan, prepared, is_settled, missing }
}
