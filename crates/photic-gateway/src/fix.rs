//! A conversation, repaired: read, planned, written for whoever it is sent to.
//!
//! Everything here is bound by the processor; what needs pixels says so first, so that it can be
//! done where it holds nobody up.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use photic::json::Segments;
use photic::{Decision, Lowered, Plan, Policy, Prepared, Transcript, Wire};

use crate::account::Facts;
use crate::derivatives::Derivatives;
use crate::fetching::{Fetching, Gathered};
use crate::intake::Body;
use crate::learned::{Entry, Learned, Lessons};
use crate::profiles::{Addressee, Known, Profiles};
use crate::record::{Recorder, Sent};
use crate::route::Asked;
use crate::upstream::{Upstream, Upstreams};
use crate::watch::Carried;

/// What requests are repaired with.
#[derive(Debug)]
pub(crate) struct Workshop {
    pub(crate) upstreams: Upstreams,
    pub(crate) policy: Policy,
    pub(crate) profiles: Profiles,
    pub(crate) derivatives: Derivatives,
    pub(crate) fetching: Fetching,
    pub(crate) learned: Learned,
    /// Whether somebody reads what was done one by one.
    pub(crate) details: bool,
    pub(crate) recorder: Option<Recorder>,
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) upstream: Arc<Upstream>,
    /// The wire it is written in.
    pub(crate) wire: Wire,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) fixes: Fixes,
    pub(crate) facts: Facts,
    /// What it costs to read, by estimate.
    pub(crate) tokens: u64,
    /// What the path has to say, on wires that say it there.
    pub(crate) asked: Asked,
    /// Whether a streamed reply should end with what it cost.
    pub(crate) usage_in_stream: bool,
    /// The media in it, if there are any and it was planned.
    pub(crate) carried: Option<Box<Carried>>,
    /// What it is, where it is to be kept.
    pub(crate) sent: Option<Sent>,
}

/// What was done to a request, counted.
#[derive(Debug, Default)]
pub(crate) struct Fixes(BTreeMap<&'static str, usize>);

/// How far a request may be worked on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort<'f> {
    /// Not at all: find out whom it is for, and send what came.
    Exact,
    /// As far as it goes without pixels.
    Light,
    /// With pixels, which can take a second, and with what was fetched.
    Full(&'f Gathered),
}

impl Workshop {
    /// Makes a request ready, under what was learned and what is being tried; `None` if that takes
    /// more effort, or nobody serves it.
    pub(crate) fn order(
        &self,
        from: Wire,
        body: &Body,
        effort: Effort<'_>,
        tried: &[Entry],
    ) -> Option<Order> {
        let (transcript, findings) = body.lift(from);
        if matches!(effort, Effort::Exact) || !transcript.is_readable() {
            return self.exactly(from, body, &transcript);
        }
        self.work(transcript, effort, tried, |terms, work| {
            let Work { transcript, plan, prepared, lowered, model, .. } = work;
            let facts = Facts::of(plan, prepared, &lowered, &findings, self.details);
            Order {
                carried: Carried::of(plan, prepared, model),
                sent: self.recorder.as_ref().map(|_| Sent::of(&lowered.body)),
                wire: terms.upstream.speaks(from),
                facts: facts.named(model),
                fixes: Fixes::of(&lowered.decisions),
                tokens: plan.ledger.tokens,
                usage_in_stream: transcript.settings.usage_in_stream,
                asked: Asked { model: model.map(str::to_owned), stream: streams(transcript) },
                pieces: pieces(lowered.body, &body.bytes),
                upstream: Arc::clone(&terms.upstream),
            }
        })
    }

    /// Keeps a request that was answered, as it was sent.
    pub(crate) fn record(&self, from: Wire, body: &Body, gathered: &Gathered, sent: Sent) {
        let Some(recorder) = &self.recorder else { return };
        let (transcript, _) = body.lift(from);
        if transcript.is_readable() {
            let kept = self.work(transcript, Effort::Full(gathered), &[], |_, work| {
                recorder.append(&work, sent);
            });
            if kept.is_none() {
                recorder.lost.add(1);
            }
        }
    }

    /// Plans, prepares, lowers.
    fn work<'w, T>(
        &self,
        mut transcript: Transcript<'w>,
        effort: Effort<'w>,
        tried: &[Entry],
        finish: impl FnOnce(&Terms, Work<'_, '_>) -> T,
    ) -> Option<T> {
        // What was chosen earlier is in files.
        if self.recorder.is_some() && matches!(effort, Effort::Light) {
            return None;
        }
        let model = transcript.settings.model.as_ref().map(photic::json::Str::decode);
        let terms = self.terms(transcript.wire, model.as_deref(), tried)?;
        let recorder = self.recorder.as_ref();
        let policy = recorder.map(|recorder| recorder.policy(&self.policy, &transcript));
        let policy = policy.as_deref().unwrap_or(&self.policy);
        let mut plan = terms.plan(&transcript, policy, recorder);
        if self.fetching.is_due(&transcript, &plan) {
            let Effort::Full(gathered) = effort else { return None };
            gathered.put_into(&mut transcript, &plan, &self.fetching);
            plan = terms.plan(&transcript, policy, recorder);
        }
        let mut prepared = match effort {
            _ if plan.recipes.is_empty() => Prepared::new(),
            Effort::Exact | Effort::Light => return None,
            Effort::Full(_) => {
                self.derivatives.prepare(&transcript, &plan, &terms.known.fingerprint)
            }
        };
        if let Some(lessons) = &terms.lessons {
            lessons.quarantine.withhold_made(&mut prepared);
        }
        let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
        let (transcript, plan, prepared) = (&transcript, &plan, &prepared);
        let model = model.as_deref();
        Some(finish(&terms, Work { transcript, plan, policy, prepared, lowered, model }))
    }

    /// Fetches what has to be there before a request can be made ready.
    pub(crate) async fn gather(&self, from: Wire, body: &Body, tried: &[Entry]) -> Gathered {
        let addresses = self.addresses(from, body, tried).unwrap_or_default();
        self.fetching.gather(addresses).await
    }

    fn addresses(&self, from: Wire, body: &Body, tried: &[Entry]) -> Option<BTreeSet<String>> {
        let (transcript, _) = body.lift(from);
        let model = transcript.settings.model.as_ref().map(photic::json::Str::decode);
        let terms = self.terms(from, model.as_deref(), tried)?;
        let plan = terms.plan(&transcript, &self.policy, None);
        Some(self.fetching.addresses(&transcript, &plan))
    }

    /// The request as it came.
    fn exactly(&self, from: Wire, body: &Body, transcript: &Transcript<'_>) -> Option<Order> {
        let model = transcript.settings.model.as_ref().map(photic::json::Str::decode);
        Some(Order {
            upstream: Arc::clone(self.upstreams.choose(from, model.as_deref())?),
            wire: from,
            pieces: vec![body.bytes.clone()],
            fixes: Fixes::default(),
            facts: Facts::default().named(model.as_deref()),
            tokens: 0,
            usage_in_stream: false,
            asked: body.asked.clone(),
            carried: None,
            sent: None,
        })
    }

    /// Whom a request is for, and what is known about that.
    fn terms(&self, from: Wire, model: Option<&str>, tried: &[Entry]) -> Option<Terms> {
        let Addressee { upstream, known } = self.profiles.of(&self.upstreams, from, model)?;
        let lessons = self.learned.of(upstream.host(), model, tried);
        let known = lessons.as_ref().map_or_else(|| Arc::clone(&known), |all| all.over(&known));
        Some(Terms { upstream, known, lessons })
    }
}

fn streams(transcript: &Transcript<'_>) -> bool {
    let shared = &transcript.settings.shared;
    shared.iter().any(|(name, value)| *name == "stream" && *value == b"true")
}

/// What was made of a request.
pub(crate) struct Work<'w, 'a> {
    pub(crate) transcript: &'w Transcript<'a>,
    pub(crate) plan: &'w Plan<'w>,
    pub(crate) policy: &'w Policy,
    pub(crate) prepared: &'w Prepared,
    pub(crate) lowered: Lowered<'a>,
    /// The model it is for.
    pub(crate) model: Option<&'w str>,
}

/// On what terms a request is sent.
struct Terms {
    upstream: Arc<Upstream>,
    known: Arc<Known>,
    lessons: Option<Arc<Lessons>>,
}

impl Terms {
    fn plan(
        &self,
        transcript: &Transcript<'_>,
        policy: &Policy,
        recorder: Option<&Recorder>,
    ) -> Plan<'_> {
        let mut survey = photic::survey(transcript);
        if let Some(recorder) = recorder {
            recorder.identify(transcript, policy, &mut survey);
        }
        if let Some(lessons) = &self.lessons {
            lessons.quarantine.withhold(transcript, &mut survey);
        }
        photic::plan(survey, &self.known.profile, policy)
    }
}

impl Fixes {
    fn of(decisions: &[Decision]) -> Self {
        let mut counts = BTreeMap::new();
        for decision in decisions {
            *counts.entry(decision.did.name()).or_default() += 1;
        }
        Self(counts)
    }

    /// Each with how often.
    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.values().sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    /// As in `hoisted=2, filled_empty=1`.
    pub(crate) fn list(&self) -> String {
        let each: Vec<String> =
            self.0.iter().map(|(name, count)| format!("{name}={count}")).collect();
        each.join(", ")
    }
}

/// The segments as bytes that live on their own: what borrows from the body shares it, and what
/// stands together in it goes out together.
fn pieces(segments: Segments<'_>, body: &Bytes) -> Vec<Bytes> {
    let start = body.as_ptr().addr();
    let mut pieces: Vec<Bytes> = Vec::new();
    // Where in the body the last piece ended, if it came from there.
    let mut last: Option<(usize, usize)> = None;
    for segment in segments.into_pieces() {
        let range = match &segment {
            Cow::Borrowed(slice) => slice
                .as_ptr()
                .addr()
                .checked_sub(start)
                .map(|from| (from, from + slice.len()))
                .filter(|(_, to)| *to <= body.len()),
            Cow::Owned(_) => None,
        };
        match (range, last, pieces.last_mut()) {
            (Some((from, to)), Some((begin, end)), Some(piece)) if from == end => {
                *piece = body.slice(begin..to);
                last = Some((begin, to));
            }
            (Some((from, to)), _, _) => {
                pieces.push(body.slice(from..to));
                last = Some((from, to));
            }
            (None, _, _) => {
                pieces.push(match segment {
                    Cow::Owned(bytes) => Bytes::from(bytes),
                    Cow::Borrowed(slice) => Bytes::copy_from_slice(slice),
                });
                last = None;
            }
        }
    }
    pieces
}
