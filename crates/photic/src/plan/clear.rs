//! Clears old tool results for an endpoint that cannot do it.

use std::collections::BTreeSet;

use super::fate::{Fate, Reason};
use super::{Chosen, ledger};
use crate::profile::Profile;
use crate::server_side::cleared;
use crate::survey::Survey;
use crate::transcript::MediaId;

/// Clears old tool results as the request asks its provider to, if it goes to another wire.
pub(super) fn clear(
    survey: &mut Survey,
    profile: &Profile,
    now: &mut Chosen,
    before: Option<&mut Chosen>,
) -> BTreeSet<(usize, usize)> {
    if survey.wire == Some(profile.wire) || survey.clearing.is_none() {
        return BTreeSet::new();
    }
    let mut places = BTreeSet::new();
    for choice in [Some(now), before].into_iter().flatten() {
        let tokens = ledger::request_tokens(survey, profile, choice);
        let cost = |id: MediaId| {
            let sighting = &survey.sightings[id];
            ledger::cost(sighting, choice.fates[id].is_shown(), choice.recipes.get(&id), profile)
        };
        let results = cleared(survey.clearing.as_ref(), choice.end, tokens, cost);
        for id in results.iter().flat_map(|result| &result.media) {
            if choice.fates[*id].is_shown() {
                choice.fates[*id] = Fate::Elide(Reason::Cleared);
                choice.recipes.remove(id);
                choice.retired.push(*id);
            }
        }
        if choice.end == survey.words.len() {
            places.extend(results.iter().map(|result| result.place));
        }
    }
    for result in survey.clearing.iter().flat_map(|clearing| clearing.results.clone()) {
        if places.contains(&result.place) {
            let words = &mut survey.words[result.place.0];
            *words = words.saturating_sub(result.words);
        }
    }
    places
}
