//! A conversation, repaired: read, planned, written for whoever it is sent to.
//!
//! Everything here is bound by the processor; what needs pixels says so first, so that it can be
//! done where it holds nobody up.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use photic::json::Str;
use photic::wire::PathParams;
use photic::{Finding, Lowered, Plan, Policy, Prepared, Profile, Transcript, Wire};
use photic_store::BlobId;

use crate::account::Facts;
use crate::derivatives::Derivatives;
use crate::failure::Failure;
use crate::fetching::{FetchedInputs, Fetching};
use crate::fixes::Fixes;
use crate::identity::Identity;
use crate::intake::Body;
use crate::learned::{Entry, Learned, Lessons};
use crate::media::{self, MediaCache, Named};
use crate::memory::{Charge, Share};
use crate::pieces::pieces;
use crate::pixel_work::Allowance;
use crate::profiles::{Profiles, ResolvedProfile, ResolvedRoute};
use crate::record::{Made, Recorder, Sent, SessionContext, Turn};
use crate::upstream::{Upstream, Upstreams};
use crate::watch::SentMedia;

/// What requests are repaired with.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) upstreams: Upstreams,
    pub(crate) policy: Policy,
    pub(crate) profiles: Profiles,
    pub(crate) derivatives: Derivatives,
    pub(crate) fetching: Fetching,
    pub(crate) learned: Learned,
    /// Whether somebody reads what was done one by one.
    pub(crate) details: bool,
    pub(crate) recorder: Option<Recorder>,
    /// What tenants uploaded.
    pub(crate) shelf: MediaCache,
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct OutboundRequest {
    pub(crate) upstream: Arc<Upstream>,
    /// The wire it is written in.
    pub(crate) wire: Wire,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) fixes: Fixes,
    pub(crate) facts: Facts,
    /// What it costs to read, by estimate.
    pub(crate) tokens: u64,
    /// What the path has to say, on wires that say it there.
    pub(crate) asked: PathParams,
    /// Whether a streamed reply should end with what it cost.
    pub(crate) usage_in_stream: bool,
    /// Tools that go by another name, each new name with the old one.
    pub(crate) renamed: Vec<(String, String)>,
    /// The media in it, if there are any and it was planned.
    pub(crate) carried: Option<Box<SentMedia>>,
    /// What it is, where it is to be kept.
    pub(crate) sent: Option<Sent>,
    /// What had to be there for it; not held, only known, while the model thinks.
    pub(crate) wants: MissingInputs,
    /// The memory of those pieces that are not the caller's own bytes.
    pub(crate) held: Vec<Charge>,
}

/// How far a request may be worked on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RepairLevel<'f> {
    /// Not at all: find out whom it is for, and send what came.
    Exact,
    /// As far as it goes without pixels.
    Light,
    /// With pixels, which can take a second, and with what was fetched.
    Full(Supplies<'f>),
}

/// What a plan is finished with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supplies<'f> {
    gathered: &'f FetchedInputs,
    /// What pixels may use; without it, no picture is made.
    pixels: Option<&'f Allowance>,
}

impl<'f> Supplies<'f> {
    /// Nothing but what was gathered.
    pub(crate) const fn of(gathered: &'f FetchedInputs) -> Self {
        Self { gathered, pixels: None }
    }

    /// What was gathered, and pixels as far as they are allowed.
    pub(crate) const fn with_pixels(gathered: &'f FetchedInputs, pixels: &'f Allowance) -> Self {
        Self { gathered, pixels: Some(pixels) }
    }
}

impl Pipeline {
    /// Makes a request ready, under what was learned and what is being tried. Where that takes more
    /// effort, it says what has to be there first; where nobody serves it, nothing.
    pub(crate) fn order(
        &self,
        from: Wire,
        body: &Body,
        effort: RepairLevel<'_>,
        tried: &[Entry],
    ) -> Result<OutboundRequest, MissingInputs> {
        let lately;
        let (transcript, findings) = body.lift(from);
        if matches!(effort, RepairLevel::Exact) || !transcript.is_readable() {
            return self.exactly(from, body, &transcript).ok_or_else(MissingInputs::default);
        }
        let terms =
            self.terms(&transcript, &body.identity, tried).ok_or_else(MissingInputs::default)?;
        let job = self.begin(&terms, transcript, body);
        let supplies = match effort {
            RepairLevel::Full(supplies) => supplies,
            RepairLevel::Exact | RepairLevel::Light => {
                let tenant = &body.recalled.tenant;
                let (pictures, missing) = self.shelf.at_hand(tenant, &job.wants.blobs);
                if !(job.needs_only_pictures() && missing.is_empty()) {
                    return Err(job.wants);
                }
                lately = FetchedInputs::of(pictures);
                Supplies::of(&lately)
            }
        };
        Ok(self.finish(&terms, job, supplies, |work| self.ordered(from, body, &findings, work)))
    }

    /// A request that is finished.
    pub(crate) fn ordered(
        &self,
        from: Wire,
        body: &Body,
        findings: &[Finding],
        work: LoweredRequest<'_, '_>,
    ) -> OutboundRequest {
        let LoweredRequest { terms, transcript, plan, prepared, lowered, wants, .. } = work;
        let model = transcript.settings.model.as_ref().map(Str::decode);
        let model = model.as_deref();
        let facts = Facts::of(plan, prepared, &lowered, findings, self.details);
        OutboundRequest {
            carried: SentMedia::of(plan, prepared, model),
            sent: self.recorder.as_ref().map(|_| Sent {
                what: photic_store::SentBody::of(&lowered.body),
                terms: terms.clone(),
                is_settled: work.is_settled,
                shed: lowered.retired.clone(),
            }),
            wire: terms.upstream.speaks(from),
            facts: facts.named(model),
            fixes: Fixes::of(&lowered.decisions),
            tokens: plan.ledger.tokens,
            usage_in_stream: transcript.settings.usage_in_stream,
            renamed: renamed(transcript, plan.profile),
            asked: PathParams { model: model.map(str::to_owned), stream: streams(transcript) },
            pieces: pieces(lowered.body, &body.bytes),
            upstream: Arc::clone(&terms.upstream),
            wants,
            held: Vec::new(),
        }
    }

    /// Keeps a request that was answered, as it was sent.
    pub(crate) fn record(
        &self,
        from: Wire,
        body: &Body,
        supplies: Supplies<'_>,
        sent: &Sent,
    ) -> Option<Turn> {
        let recorder = self.recorder.as_ref()?;
        let (transcript, _) = body.lift(from);
        if !transcript.is_readable() {
            return None;
        }
        let recalled = &body.recalled;
        let job = self.begin(&sent.terms, transcript, body);
        if sent.is_settled {
            let PlannedRequest { transcript, policy, named, plan, .. } = &job;
            let prepared = &Prepared::new();
            return recorder.append(
                recalled,
                &Made { transcript, plan, policy, prepared, named },
                sent,
            );
        }
        self.finish(&sent.terms, job, supplies, |work| {
            // What was fetched again, or made again, may be another thing, and the record must not
            // say that it was sent.
            let is_it = photic_store::SentBody::of(&work.lowered.body) == sent.what;
            let LoweredRequest { transcript, plan, policy, prepared, named, .. } = work;
            let made = Made { transcript, plan, policy, prepared, named };
            if is_it { recorder.append(recalled, &made, sent) } else { recorder.lose() }
        })
    }

    /// Plans a request, and finds out what that takes.
    pub(crate) fn begin<'w>(
        &'w self,
        terms: &'w Target,
        transcript: Transcript<'w>,
        body: &'w Body,
    ) -> PlannedRequest<'w> {
        let mut transcript = transcript;
        let recalled = &*body.recalled;
        let retention = body.retention.unwrap_or(self.policy.retention);
        let mut policy = recalled.policy(&self.policy, retention, &terms.known.profile.id);
        if policy.retention != retention {
            policy.to_mut().retention = retention;
        }
        let named = recalled.stand_in(&mut transcript);
        let plan = terms.plan(&transcript, &policy, recalled, &named);
        let wants = self.wants(&transcript, &plan, &named);
        PlannedRequest { transcript, recalled, whose: &body.identity, policy, named, plan, wants }
    }

    /// Prepares and lowers what was planned, with what it takes.
    pub(crate) fn finish<'w, T>(
        &self,
        terms: &'w Target,
        job: PlannedRequest<'w>,
        supplies: Supplies<'w>,
        finish: impl FnOnce(LoweredRequest<'_, '_>) -> T,
    ) -> T {
        let is_complete = job.needs_only_pictures();
        let Supplies { gathered, pixels } = supplies;
        let PlannedRequest { mut transcript, recalled, whose, policy, named, mut plan, wants } =
            job;
        if !wants.addresses.is_empty() {
            gathered.put_into(&mut transcript, &plan, &self.fetching);
            plan = terms.plan(&transcript, &policy, recalled, &named);
        }
        let mut are_here = true;
        if !media::wanted(&named, &plan).is_empty() {
            are_here = gathered.pictures.put_into(&mut transcript, &named, &plan);
            if !are_here {
                plan = terms.plan(&transcript, &policy, recalled, &named);
            }
        }
        let mut prepared = match pixels.filter(|_| !plan.recipes.is_empty()) {
            Some(pixels) => {
                let profile = &terms.known.fingerprint;
                self.derivatives.prepare(&transcript, &plan, whose, profile, pixels)
            }
            None => Prepared::new(),
        };
        if let Some(lessons) = &terms.lessons {
            lessons.quarantine.withhold_made(&mut prepared);
        }
        let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
        finish(LoweredRequest {
            terms,
            transcript: &transcript,
            plan: &plan,
            policy: &policy,
            prepared: &prepared,
            lowered,
            named: &named,
            is_settled: is_complete && are_here,
            wants,
        })
    }

    /// What a plan needs that is not in the request.
    fn wants(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
        named: &Named<'_>,
    ) -> MissingInputs {
        MissingInputs {
            addresses: self.fetching.addresses(transcript, plan),
            blobs: media::wanted(named, plan),
            pixels: pixels(plan),
        }
    }

    /// Fetches what has to be there before a request can be made ready.
    pub(crate) async fn gather(
        &self,
        body: &Body,
        wants: &MissingInputs,
        share: &Share,
    ) -> Result<FetchedInputs, Failure> {
        let addresses = wants.addresses.clone();
        let mut gathered = self.fetching.gather(&body.identity, addresses, share).await?;
        gathered.pixels = wants.pixels;
        if let Some(recorder) = self.recorder.as_ref().filter(|_| !wants.blobs.is_empty()) {
            let (tenant, blobs) = (&body.recalled.tenant, &wants.blobs);
            let (pictures, charges) =
                self.shelf.read(&recorder.place, tenant, blobs, share).await?;
            gathered.pictures = pictures;
            gathered.charges.extend(charges);
        }
        Ok(gathered)
    }

    /// The same under what is being tried.
    pub(crate) async fn gather_trying(
        &self,
        from: Wire,
        body: &Body,
        tried: &[Entry],
        share: &Share,
    ) -> Result<FetchedInputs, Failure> {
        let light = self.order(from, body, RepairLevel::Light, tried);
        let wants = light.map_or_else(|wants| wants, |order| order.wants);
        self.gather(body, &wants, share).await
    }

    /// The request as it came.
    pub(crate) fn exactly(
        &self,
        from: Wire,
        body: &Body,
        transcript: &Transcript<'_>,
    ) -> Option<OutboundRequest> {
        let model = transcript.settings.model.as_ref().map(Str::decode);
        Some(OutboundRequest {
            upstream: Arc::clone(self.upstreams.choose(from, model.as_deref())?),
            wire: from,
            pieces: vec![body.bytes.clone()],
            fixes: Fixes::default(),
            facts: Facts::default().named(model.as_deref()),
            tokens: 0,
            usage_in_stream: false,
            renamed: Vec::new(),
            asked: body.asked.clone(),
            carried: None,
            sent: None,
            wants: MissingInputs::default(),
            held: Vec::new(),
        })
    }

    /// Whom a request is for, and what is known about that.
    pub(crate) fn terms(
        &self,
        transcript: &Transcript<'_>,
        who: &Identity,
        tried: &[Entry],
    ) -> Option<Target> {
        let model = transcript.settings.model.as_ref().map(Str::decode);
        let model = model.as_deref();
        let ResolvedRoute { upstream, known } =
            self.profiles.of(&self.upstreams, transcript.wire, model)?;
        let lessons = self.learned.of(upstream.host(), model, who, tried);
        let known = lessons.as_ref().map_or_else(|| Arc::clone(&known), |all| all.over(&known));
        Some(Target { upstream, known, lessons })
    }
}

impl OutboundRequest {
    /// Lets go of the body, once it was sent for the last time.
    pub(crate) fn let_go(&mut self) {
        self.pieces = Vec::new();
        self.held = Vec::new();
    }
}

/// How many pixels the recipes of a plan have to be made from.
fn pixels(plan: &Plan<'_>) -> u64 {
    let sizes = plan.recipes.keys().filter_map(|id| plan.survey.sightings.get(*id)?.header.size);
    sizes.map(|(width, height)| u64::from(width) * u64::from(height)).sum()
}

/// The tools that the endpoint knows by another name, if the request is translated.
fn renamed(transcript: &Transcript<'_>, profile: &Profile) -> Vec<(String, String)> {
    if transcript.wire == profile.wire {
        return Vec::new();
    }
    photic::renamed_tools(transcript, profile)
}

fn streams(transcript: &Transcript<'_>) -> bool {
    let shared = &transcript.settings.shared;
    shared.iter().any(|(name, value)| *name == "stream" && *value == b"true")
}

/// A request that is planned: what the plan takes need not be here yet.
#[derive(Debug)]
pub(crate) struct PlannedRequest<'w> {
    transcript: Transcript<'w>,
    recalled: &'w SessionContext,
    /// Whom what is made for it is kept for.
    whose: &'w Identity,
    policy: Cow<'w, Policy>,
    named: Named<'w>,
    plan: Plan<'w>,
    pub(crate) wants: MissingInputs,
}

impl PlannedRequest<'_> {
    /// Whether nothing has to be fetched or made for it but pictures that came by name.
    pub(crate) fn needs_only_pictures(&self) -> bool {
        self.wants.addresses.is_empty() && self.plan.recipes.is_empty()
    }
}

/// What was made of a request.
pub(crate) struct LoweredRequest<'w, 'a> {
    terms: &'w Target,
    transcript: &'w Transcript<'a>,
    plan: &'w Plan<'w>,
    policy: &'w Policy,
    prepared: &'w Prepared,
    lowered: Lowered<'a>,
    /// What is remembered of media that came by name.
    named: &'w Named<'w>,
    /// Whether it follows from the body and from what was recalled, and from nothing else.
    is_settled: bool,
    wants: MissingInputs,
}

/// What has to be there before a request can be made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingInputs {
    addresses: BTreeSet<String>,
    blobs: BTreeSet<BlobId>,
    pixels: u64,
}

/// On what terms a request is sent.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    upstream: Arc<Upstream>,
    known: Arc<ResolvedProfile>,
    lessons: Option<Arc<Lessons>>,
}

impl Target {
    /// What is known about the endpoint and the model.
    pub(crate) fn profile(&self) -> &Profile {
        &self.known.profile
    }

    fn plan(
        &self,
        transcript: &Transcript<'_>,
        policy: &Policy,
        recalled: &SessionContext,
        named: &Named<'_>,
    ) -> Plan<'_> {
        let mut survey = photic::survey(transcript);
        survey.recall(transcript, named);
        recalled.identify(transcript, &mut survey);
        if let Some(lessons) = &self.lessons {
            lessons.quarantine.withhold(transcript, &mut survey);
        }
        photic::plan(survey, &self.known.profile, policy)
    }
}
