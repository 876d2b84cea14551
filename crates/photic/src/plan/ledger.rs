//! What a plan costs, and what it does to the cache.

use serde::Serialize;

use super::{Chosen, doubtful_tokens, planned_bytes, planned_tokens};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::survey::{Sighting, Survey};
use crate::tokens::{Basis, text_tokens};
use crate::transcript::MediaId;

use super::retention::NOTICE;

/// The bill of a plan. Tokens are estimates by the profile's rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ledger {
    /// Images the model will see.
    pub images: usize,
    /// Tokens they cost; images of unknown size are guessed.
    pub image_tokens: u64,
    /// How that number is known.
    pub basis: Basis,
    /// Tokens they should not exceed; more than the former only where their price is unknown.
    pub most_image_tokens: u64,
    /// Tokens of the whole request.
    pub tokens: u64,
    /// Bytes of media in the request.
    pub media_bytes: u64,
    /// Media that are not shown because the request as a whole has limits.
    pub retired: Vec<MediaId>,
    /// How many tokens stand before the first difference from the request before, and can come
    /// from a cache.
    pub reusable_tokens: u64,
    /// The input of the request in US dollars, at list price, if the model's is known and the
    /// cache holds what it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// What changed in what the request before had shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Change>,
}

/// The first place where a request differs from what the one before it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The medium.
    pub media: MediaId,
    /// The message it stands in.
    pub message: usize,
    /// Tokens of the request before that follow it, and are not found in a cache again.
    pub rewritten_tokens: u64,
}

pub(super) fn bill(
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
) -> Ledger {
    let mut ledger =
        Ledger { basis: profile.basis(), retired: now.retired.clone(), ..Ledger::default() };
    for sighting in now.scope(survey).filter(|one| now.fates[one.media].is_shown()) {
        ledger.media_bytes += planned_bytes(sighting, now.recipes.get(&sighting.media));
        if sighting.kind == MediaKind::Image {
            ledger.images += 1;
            let recipe = now.recipes.get(&sighting.media);
            let tokens = cost(sighting, profile, now);
            ledger.image_tokens += tokens;
            ledger.most_image_tokens += tokens + doubtful_tokens(sighting, recipe, profile);
        }
    }
    ledger.tokens = tokens(survey, profile, now, 0);
    compare(&mut ledger, survey, profile, now, before);
    let kept = ledger.reusable_tokens.min(ledger.tokens);
    let new = (ledger.tokens - kept) as f64;
    let paid = kept as f64 * profile.cache.read + new * profile.cache.write;
    ledger.usd = profile.price.map(|price| price.of(paid));
    ledger
}

/// What the request shares with the one before it, and where it parts from it.
fn compare(
    ledger: &mut Ledger,
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
) {
    let Some(before) = before else { return };
    let held = tokens(survey, profile, before, 0);
    let differs = |one: &&Sighting| {
        let id = one.media;
        now.fates[id] != before.fates[id] || now.recipes.get(&id) != before.recipes.get(&id)
    };
    ledger.changed =
        before.scope(survey).filter(differs).min_by_key(|one| (one.message, one.media)).map(
            |first| Change {
                media: first.media,
                message: first.message,
                rewritten_tokens: tokens(survey, profile, before, first.message),
            },
        );
    ledger.reusable_tokens = held - ledger.changed.map_or(0, |change| change.rewritten_tokens);
}

/// The tokens of a request from a message on.
fn tokens(survey: &Survey, profile: &Profile, choice: &Chosen, from: usize) -> u64 {
    let mut bytes: usize = survey.words[from..choice.end].iter().sum();
    if from == 0 {
        bytes += survey.settings;
    }
    let media = choice.scope(survey).filter(|sighting| sighting.message >= from);
    text_tokens(bytes as u64) + media.map(|sighting| cost(sighting, profile, choice)).sum::<u64>()
}

fn cost(sighting: &Sighting, profile: &Profile, choice: &Chosen) -> u64 {
    match sighting.kind {
        MediaKind::Image if choice.fates[sighting.media].is_shown() => {
            planned_tokens(sighting, choice.recipes.get(&sighting.media), profile)
        }
        _ => NOTICE.0,
    }
}
