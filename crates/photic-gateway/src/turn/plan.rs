//! Stage **plan**: resolves the target of a turn and chooses a fate for each of its media.

use std::borrow::Cow;
use std::sync::Arc;

use photic::json::Str;
use photic::{Plan, Policy, Survey, Transcript};

use super::read::InboundRequest;
use super::recall::RecalledRequest;
use crate::learned::{Entry, Learned, Lessons};
use crate::media::{MissingInputs, RemoteMedia};
use crate::record::{Named, SessionContext};
use crate::tenant::Identity;
use crate::upstream::{Profiles, ResolvedProfile, ResolvedRoute, Upstream, Upstreams};

/// Plans turns.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) policy: Policy,
    pub(crate) profiles: Profiles,
    pub(crate) learned: Arc<Learned>,
}

/// The upstream that a request is sent to, with its profile and lessons.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) upstream: Arc<Upstream>,
    pub(super) profile: Arc<ResolvedProfile>,
    pub(super) lessons: Option<Arc<Lessons>>,
    /// The name of the model at the upstream, if it is another one.
    pub(super) model: Option<Arc<str>>,
}

/// A request that is planned. Inputs of the plan may still be missing.
#[derive(Debug)]
pub(super) struct PlannedRequest<'w> {
    pub(super) transcript: Transcript<'w>,
    pub(super) context: &'w SessionContext,
    /// The caller that prepared images are cached for.
    pub(super) identity: &'w Identity,
    pub(super) policy: Cow<'w, Policy>,
    pub(super) named: Named<'w>,
    pub(super) plan: Plan<'w>,
    pub(super) missing: MissingInputs,
}

impl Planner {
    /// Resolves the target of a turn, under the lessons that apply to its caller and those that are
    /// being `tried`. Returns `None` if no upstream serves it.
    pub(super) fn target(
        &self,
        transcript: &Transcript<'_>,
        inbound: &InboundRequest,
        tried: &[Entry],
    ) -> Option<Target> {
        let asked = transcript.settings.model.as_ref().map(Str::decode);
        let asked = asked.as_deref();
        let picked = inbound.picking.of(&self.upstreams, transcript, &inbound.body.bytes);
        let other = picked.and_then(|picked| picked.candidate().model.clone());
        let model = other.as_deref().or(asked);
        let ResolvedRoute { upstream, known } = match picked {
            None => {
                let prefix = inbound.prefix.as_ref();
                self.profiles.of(&self.upstreams, inbound.endpoint, model, prefix)?
            }
            Some(picked) => {
                self.profiles.of_picked(picked, inbound.endpoint, model.unwrap_or_default())
            }
        };
        let lessons = self.learned.of(upstream.host(), model, &inbound.identity, tried);
        let profile = match &lessons {
            Some(lessons) => lessons.over(&known),
            None => known,
        };
        Some(Target { upstream, profile, lessons, model: other })
    }

    /// Returns the upstream for a request that is sent unchanged, and the name of the model there if it
    /// is another one.
    pub(super) fn upstream(
        &self,
        inbound: &InboundRequest,
        transcript: &Transcript<'_>,
    ) -> Option<(Arc<Upstream>, Option<Arc<str>>)> {
        if let Some(picked) = inbound.picking.of(&self.upstreams, transcript, &inbound.body.bytes) {
            let candidate = picked.candidate();
            return Some((Arc::clone(&candidate.upstream), candidate.model.clone()));
        }
        let model = transcript.settings.model.as_ref().map(Str::decode);
        let wire = inbound.endpoint.served_by();
        let chosen = self.upstreams.choose(wire, model.as_deref(), inbound.prefix.as_ref())?;
        Some((Arc::clone(chosen), None))
    }

    /// Plans a turn, and finds the inputs that the plan needs.
    pub(super) fn plan<'w>(
        &'w self,
        target: &'w Target,
        transcript: Transcript<'w>,
        recalled: &'w RecalledRequest,
        remote: &RemoteMedia,
    ) -> PlannedRequest<'w> {
        self.plan_surveyed(target, transcript, recalled, remote, |_| {})
    }

    /// Plans a turn after its survey was changed by `complete`.
    pub(super) fn plan_surveyed<'w>(
        &'w self,
        target: &'w Target,
        mut transcript: Transcript<'w>,
        recalled: &'w RecalledRequest,
        remote: &RemoteMedia,
        complete: impl FnOnce(&mut Survey),
    ) -> PlannedRequest<'w> {
        if let Some(model) = &target.model {
            transcript.settings.model = Some(Str::plain(&**model));
        }
        let context = &recalled.context;
        let retention = recalled.inbound.retention.unwrap_or(self.policy.retention);
        let mut policy = context.policy(&self.policy, retention, &target.profile.profile.id);
        if policy.retention != retention {
            policy.to_mut().retention = retention;
        }
        let named = context.put_stubs(&mut transcript);
        let mut survey = target.survey(&transcript, context, &named);
        complete(&mut survey);
        let plan = photic::plan(survey, &target.profile.profile, &policy);
        let missing = MissingInputs::of(&transcript, &plan, &named, remote);
        let identity = &recalled.inbound.identity;
        PlannedRequest { transcript, context, identity, policy, named, plan, missing }
    }
}

impl Target {
    /// Plans a transcript.
    pub(super) fn plan(
        &self,
        transcript: &Transcript<'_>,
        policy: &Policy,
        context: &SessionContext,
        named: &Named<'_>,
    ) -> Plan<'_> {
        photic::plan(self.survey(transcript, context, named), &self.profile.profile, policy)
    }

    /// Surveys a transcript for a plan.
    fn survey(
        &self,
        transcript: &Transcript<'_>,
        context: &SessionContext,
        named: &Named<'_>,
    ) -> Survey {
        let mut survey = photic::survey(transcript);
        survey.recall(transcript, named);
        context.identify(transcript, &mut survey);
        if let Some(lessons) = &self.lessons {
            lessons.quarantine.withhold(transcript, &mut survey);
        }
        survey
    }
}

impl PlannedRequest<'_> {
    /// Returns `true` if no URL has to be fetched and no image prepared for it. Bytes of references
    /// may still have to be loaded.
    pub(super) fn needs_no_pixels(&self) -> bool {
        self.missing.addresses.is_empty() && self.plan.recipes.is_empty()
    }
}
