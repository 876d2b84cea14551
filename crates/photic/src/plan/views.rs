//! Turns a survey into the turns and views that the retention policy reads.

use std::collections::{BTreeMap, BTreeSet};

use super::fate::{Fate, Reason};
use super::recipe::Recipe;
use super::retention::{Cause, Keeper, Load, MaxLoad, Prices, Rank, Retention, Turn, View};
use super::{Chosen, Policy, document_tokens, doubtful_tokens, planned_bytes, planned_tokens};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::survey::{Sighting, Slot, Survey};
use crate::tokens::{Basis, text_tokens};
use crate::transcript::MediaId;

/// Minimum tokens of a picture worth retiring. A notice in place of a cheaper one saves nothing.
const WORTH_RETIRING: u64 = 64;

/// In a body that is too heavy, an image takes at most one part in this many.
const SHARE: u64 = 16;

/// The state at the end of one request of a conversation.
#[derive(Clone, Debug)]
pub(super) struct RetentionState {
    /// The number of messages the request held.
    pub(super) end: usize,
    pub(super) keeper: Keeper,
    /// The media that may be retired, in order.
    pub(super) views: Vec<MediaId>,
}

/// Folds all requests. Returns the state after the last one, and after the one before it.
pub(super) fn keep(
    survey: &Survey,
    profile: &Profile,
    policy: &Policy,
    (fates, recipes): (&[Fate], &BTreeMap<MediaId, Recipe>),
) -> (RetentionState, Option<RetentionState>) {
    let room = max_load(profile, policy);
    let prices = Prices { read: profile.cache.read, write: profile.cache.write };
    let mut keeper = Keeper::new(policy.retention, policy.price_floor(), prices, room)
        .with_host_tokens(policy.room.tokens);
    if policy.pixels {
        keeper = keeper.with_pixels();
    }
    let mut kept = RetentionState { end: 0, keeper, views: Vec::new() };
    let mut before = None;
    // The index of the last view of each picture.
    let mut last_seen: BTreeMap<MediaId, usize> = BTreeMap::new();
    let mut order: Vec<&Sighting> = survey.sightings.iter().collect();
    order.sort_by_key(|sighting| sighting.message);
    let mut order = order.into_iter().peekable();
    for (index, &end) in survey.requests.iter().enumerate() {
        if index > 0 && index + 1 == survey.requests.len() {
            before = Some(kept.clone());
        }
        let mut bytes: usize = survey.words[kept.end..end].iter().sum();
        if index == 0 {
            bytes += survey.settings;
        }
        let mut rest =
            Load { tokens: text_tokens(bytes as u64), bytes: bytes as u64, ..Load::default() };
        let mut views = Vec::new();
        // A picture that comes twice in one turn answers two questions, so it is no twin of itself.
        let mut new = Vec::new();
        while let Some(sighting) = order.next_if(|sighting| sighting.message < end) {
            let id = sighting.media;
            if !fates[id].is_shown() {
                continue;
            }
            let load = load(sighting, recipes.get(&id), profile, &room);
            // Media that code reads are left alone and take only bytes. Pinned pictures are left
            // alone, too.
            if survey.is_for_code(sighting, profile) {
                rest.bytes += load.bytes;
                continue;
            }
            if policy.pins(sighting) {
                rest += load;
                continue;
            }
            let rank = rank(sighting, &load, survey, profile, policy);
            let twin = match (rank, policy.retention) {
                (Rank::Limited | Rank::Attached, _) | (Rank::View, Retention::All) => None,
                (Rank::Reference | Rank::View, _) => {
                    let root = sighting.twin.unwrap_or(id);
                    new.push((root, kept.views.len()));
                    last_seen.get(&root).copied().filter(|_| is_worth_noting(&load))
                }
            };
            kept.views.push(id);
            views.push(View { load, twin, rank });
        }
        last_seen.extend(new);
        kept.keeper.turn(&Turn { rest, views: &views });
        kept.end = end;
    }
    (kept, before)
}

/// Retires what the fold retired and what the previous request had retired. Replaces pictures that
/// are already in sight with a note. Leaves what the user dropped or pinned as it is.
pub(super) fn apply(choice: &mut Chosen, survey: &Survey, policy: &Policy) {
    // Pictures in sight, by the first medium of these bytes.
    let mut in_sight = BTreeSet::new();
    let views: BTreeMap<MediaId, usize> =
        choice.views.iter().enumerate().map(|(index, &id)| (id, index)).collect();
    for sighting in choice.scope(survey) {
        let id = sighting.media;
        let root = sighting.twin.unwrap_or(id);
        if !choice.fates[id].is_shown() || policy.pins(sighting) {
            continue;
        }
        let view = views.get(&id).copied();
        let cause = view.and_then(|index| choice.keeper.retired(index));
        let folded = cause.map(|cause| match cause {
            Cause::Policy => Reason::Retired,
            Cause::Count => Reason::OverCount,
            Cause::Budget => Reason::OverBudget,
        });
        let reason = if let Some(reason) = folded.or_else(|| policy.keeps_retired(sighting)) {
            choice.retired.push(id);
            reason
        } else if view.is_some_and(|index| choice.keeper.is_twin(index)) && in_sight.contains(&root)
        {
            Reason::Repeated
        } else {
            in_sight.extend(view.map(|_| root));
            continue;
        };
        choice.fates[id] = Fate::Elide(reason);
        choice.recipes.remove(&id);
    }
}

/// Returns the maximum bytes of one image in a body that is too heavy.
pub(super) fn share(room: &MaxLoad) -> Option<u64> {
    room.bytes.map(|most| most / SHARE)
}

/// Returns the lower of each endpoint limit and host budget.
pub(crate) fn max_load(profile: &Profile, policy: &Policy) -> MaxLoad {
    let less = |limit: Option<u64>, budget: Option<u64>| limit.into_iter().chain(budget).min();
    let limits = &profile.limits;
    MaxLoad {
        images: less(limits.images.map(u64::from), policy.room.images),
        image_tokens: policy.room.image_tokens,
        tokens: less(limits.context_tokens, policy.room.tokens),
        bytes: less(limits.request_bytes, policy.room.bytes),
        crowd: limits.crowd.map(|crowd| u64::from(crowd.above)),
        documents: less(limits.documents.map(u64::from), policy.room.documents),
    }
}

/// Returns the conditions under which a medium may be retired. An image in a slot that can hold
/// text instead is a view, if a tool returned it or if the host keeps it under a name.
fn rank(
    sighting: &Sighting,
    load: &Load,
    survey: &Survey,
    profile: &Profile,
    policy: &Policy,
) -> Rank {
    let same_wire = survey.wire == Some(profile.wire);
    let is_cheap = policy.retention == Retention::Priced && !is_worth_noting(load);
    let is_image = sighting.kind == MediaKind::Image;
    match sighting.slot {
        Slot::Result { screen: true, .. } if same_wire => Rank::Limited,
        Slot::Result { .. } if is_cheap || !is_image => Rank::Limited,
        // The provider retires it by itself, and says so to nobody else.
        _ if survey.is_cleared_there(sighting, profile) => Rank::Limited,
        Slot::Message(_) if is_cheap || !is_image => Rank::Attached,
        _ if sighting.reference.is_some() => Rank::Reference,
        Slot::Result { .. } => Rank::View,
        Slot::Message(_) => Rank::Attached,
    }
}

const fn is_worth_noting(load: &Load) -> bool {
    load.image_tokens >= WORTH_RETIRING
}

/// Returns the load of a medium.
pub(super) fn load(
    sighting: &Sighting,
    recipe: Option<&Recipe>,
    profile: &Profile,
    room: &MaxLoad,
) -> Load {
    let bytes = planned_bytes(sighting, recipe);
    let crowd = profile.limits.crowd;
    if sighting.kind != MediaKind::Image {
        let counts = sighting.kind == MediaKind::Document
            && crowd.is_some_and(|crowd| crowd.counts_documents);
        // A guessed token count retires nothing.
        let tokens = match (sighting.kind, document_tokens(sighting, profile)) {
            (MediaKind::Document, (tokens, Basis::Published | Basis::Assumed)) => tokens,
            (MediaKind::Document | MediaKind::Audio | MediaKind::Image, _) => 0,
        };
        let documents = u64::from(sighting.kind == MediaKind::Document);
        return Load { crowd: u64::from(counts), tokens, bytes, documents, ..Load::default() };
    }
    let tokens = planned_tokens(sighting, recipe, profile);
    let size = sighting.header.size.map(|size| recipe.map_or(size, |made| made.fit().size(size)));
    let is_large = crowd.zip(size).is_some_and(|(crowd, (w, h))| w.max(h) > crowd.edge);
    Load {
        images: 1,
        crowd: 1,
        large: u64::from(is_large),
        image_tokens: tokens,
        tokens,
        doubt: doubtful_tokens(sighting, recipe, profile),
        bytes,
        spare: share(room).map_or(0, |most| bytes.saturating_sub(most)),
        documents: 0,
    }
}
