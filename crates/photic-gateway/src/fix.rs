//! A conversation, repaired: read, planned, written for whoever it is sent to.
//!
//! Everything here is bound by the processor; what needs pixels says so first, so that it can be
//! done where it holds nobody up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use photic::json::Segments;
use photic::{Decision, Policy, Prepared, Wire};

use crate::account::Facts;
use crate::derivatives::Derivatives;
use crate::learned::{Entry, Learned};
use crate::profiles::Profiles;
use crate::upstream::{Upstream, Upstreams};
use crate::watch::Carried;

/// What requests are repaired with.
#[derive(Debug)]
pub(crate) struct Workshop {
    pub(crate) upstreams: Upstreams,
    pub(crate) policy: Policy,
    pub(crate) profiles: Profiles,
    pub(crate) derivatives: Derivatives,
    pub(crate) learned: Learned,
    /// Whether somebody reads what was done one by one.
    pub(crate) details: bool,
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
    /// Whether a streamed reply should end with what it cost.
    pub(crate) usage_in_stream: bool,
    /// The media in it, if there are any and it was planned.
    pub(crate) carried: Option<Box<Carried>>,
}

/// What was done to a request, counted.
#[derive(Debug, Default)]
pub(crate) struct Fixes(BTreeMap<&'static str, usize>);

/// How far a request may be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Not at all: find out whom it is for, and send what came.
    Exact,
    /// As far as it goes without pixels.
    Light,
    /// With pixels, which can take a second.
    Full,
}

impl Workshop {
    /// Makes a request ready, under what was learned and what is being tried; `None` if that takes
    /// more effort, or nobody serves it.
    pub(crate) fn order(
        &self,
        from: Wire,
        body: &Bytes,
        effort: Effort,
        tried: &[Entry],
    ) -> Option<Order> {
        let (transcript, findings) = photic::lift(from, body);
        let model = transcript.settings.model.as_ref().map(photic::json::Str::decode);
        let upstream = Arc::clone(self.upstreams.choose(from, model.as_deref())?);
        if effort == Effort::Exact || !transcript.is_readable() {
            let (pieces, fixes) = (vec![body.clone()], Fixes::default());
            return Some(Order {
                upstream,
                wire: from,
                pieces,
                fixes,
                facts: Facts::default().named(model.as_deref()),
                tokens: 0,
                usage_in_stream: false,
                carried: None,
            });
        }
        let wire = upstream.speaks(from);
        let known = self.profiles.of(wire, model.as_deref(), upstream.host());
        let mut survey = photic::survey(&transcript);
        let lessons = self.learned.of(upstream.host(), model.as_deref(), tried);
        let known = match &lessons {
            None => known,
            Some(lessons) => {
                lessons.quarantine.withhold(&transcript, &mut survey);
                lessons.over(known)
            }
        };
        let plan = photic::plan(survey, &known.profile, &self.policy);
        let mut prepared = match effort {
            _ if plan.recipes.is_empty() => Prepared::new(),
            Effort::Exact | Effort::Light => return None,
            Effort::Full => self.derivatives.prepare(&transcript, &plan, &known.fingerprint),
        };
        if let Some(lessons) = &lessons {
            lessons.quarantine.withhold_made(&mut prepared);
        }
        let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
        let facts = Facts::of(&plan, &prepared, &lowered, &findings, self.details);
        Some(Order {
            carried: Carried::of(&plan, &prepared, model.as_deref()),
            wire,
            facts: facts.named(model.as_deref()),
            fixes: Fixes::of(&lowered.decisions),
            tokens: plan.ledger.tokens,
            usage_in_stream: transcript.settings.usage_in_stream,
            pieces: pieces(lowered.body, body),
            upstream,
        })
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
