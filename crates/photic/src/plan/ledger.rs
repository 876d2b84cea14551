//! The cost of a plan, and its effect on the prompt cache.

use std::ops::Range;

use serde::Serialize;

use super::former::Former;
use super::{
    Chosen, Reason, Recipe, document_tokens, doubtful_tokens, planned_bytes, planned_tokens,
};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::server_side::Effect;
use crate::survey::{Sighting, Survey};
use crate::tokens::{Basis, text_tokens};
use crate::transcript::MediaId;

use super::retention::NOTICE;

/// The cost of a plan. Token counts are estimates by the profile's rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ledger {
    /// The number of images the model will see.
    pub images: usize,
    /// Tokens of the images. Unknown image sizes are guessed.
    pub image_tokens: u64,
    /// The certainty of the token counts of images and documents: the least certain of them.
    pub basis: Basis,
    /// Maximum tokens of the images. Exceeds `image_tokens` only if their price is unknown.
    pub most_image_tokens: u64,
    /// The number of documents the model will read.
    pub documents: usize,
    /// Tokens of the documents, by page; a guess if `basis` is unknown.
    pub document_tokens: u64,
    /// Tokens of the whole request.
    pub tokens: u64,
    /// Bytes of media in the request.
    pub media_bytes: u64,
    /// Media that are not shown because the policy or a limit of the whole request retired them.
    pub retired: Vec<MediaId>,
    /// The number of tokens before the first difference from the previous request. They can be read
    /// from a cache.
    pub reusable_tokens: u64,
    /// The input price of the request in US dollars, if the model's list price is known. Assumes
    /// that a cache holds what was marked for it, or everything if the endpoint needs no marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The number of messages that the reusable tokens belong to.
    #[serde(skip)]
    pub reusable_messages: usize,
    /// `true` if the endpoint keeps the request in a cache.
    #[serde(skip)]
    pub is_cached: bool,
    /// Content that the provider keeps, removes or changes by itself. The estimates do not include it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The first change to what the previous request had shown, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Change>,
}

/// The first place where a request differs from the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The medium that changed.
    pub media: MediaId,
    /// The message that holds it.
    pub message: usize,
    /// Tokens of the previous request from this message on. They cannot be read from a cache again.
    pub rewritten_tokens: u64,
}

pub(super) fn bill(
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
) -> Ledger {
    let mut ledger = Ledger { retired: now.retired.clone(), ..Ledger::default() };
    let mut documents = None;
    for sighting in now.scope(survey).filter(|one| now.fates[one.media].is_shown()) {
        ledger.media_bytes += planned_bytes(sighting, now.recipes.get(&sighting.media));
        if survey.is_for_code(sighting, profile) {
            continue;
        }
        if sighting.kind == MediaKind::Image {
            ledger.images += 1;
            let recipe = now.recipes.get(&sighting.media);
            let tokens = planned_tokens(sighting, recipe, profile);
            ledger.image_tokens += tokens;
            ledger.most_image_tokens += tokens + doubtful_tokens(sighting, recipe, profile);
        }
        if sighting.kind == MediaKind::Document {
            let (tokens, basis) = document_tokens(sighting, profile);
            ledger.documents += 1;
            ledger.document_tokens += tokens;
            documents = documents.max(Some(basis));
        }
    }
    let images = (ledger.images > 0 || documents.is_none()).then(|| profile.basis());
    ledger.basis = images.max(documents).unwrap_or_default();
    ledger.tokens = request_tokens(survey, profile, now);
    ledger.effects = survey.notes.iter().map(|note| note.effect).collect();
    ledger.effects.sort_unstable();
    ledger.effects.dedup();
    compare(&mut ledger, survey, profile, now, before);
    ledger
}

/// Returns the tokens of a request.
pub(super) fn request_tokens(survey: &Survey, profile: &Profile, choice: &Chosen) -> u64 {
    tokens(survey, 0..choice.end, |one| {
        let id = one.media;
        if survey.is_for_code(one, profile) {
            return 0;
        }
        cost(one, choice.fates[id].is_shown(), choice.recipes.get(&id), profile)
    })
}

/// Computes the tokens that the request shares with the previous one, and the first difference.
fn compare(
    ledger: &mut Ledger,
    survey: &Survey,
    profile: &Profile,
    now: &Chosen,
    before: Option<&Chosen>,
) {
    let Some(before) = Before::of(survey, profile, before) else { return };
    let is_now = |id: MediaId| (now.fates[id].hidden(), now.recipes.get(&id));
    let differs = |one: &&Sighting| {
        let placed_otherwise = match &before {
            Before::Planned(before) => now.fates[one.media] != before.fates[one.media],
            Before::Sent(_) => false,
        };
        placed_otherwise || is_now(one.media) != before.was(one.media)
    };
    let end = before.end(survey);
    let former = survey.sightings.iter().filter(|one| one.message < end);
    let first = former.filter(differs).min_by_key(|one| (one.message, one.media));
    let cost = |one: &Sighting| {
        let (hidden, recipe) = before.was(one.media);
        cost(one, hidden.is_none(), recipe, profile)
    };
    ledger.changed = first.map(|first| Change {
        media: first.media,
        message: first.message,
        rewritten_tokens: tokens(survey, first.message..end, cost),
    });
    ledger.reusable_tokens =
        tokens(survey, 0..end, cost) - ledger.changed.map_or(0, |change| change.rewritten_tokens);
    ledger.reusable_messages = ledger.changed.map_or(end, |change| change.message);
}

/// The previous request: as it was sent, or else as it would be planned now.
enum Before<'b> {
    Planned(&'b Chosen),
    Sent(&'b Former),
}

impl<'b> Before<'b> {
    /// Returns the previous request. A request under another profile does not count, because its
    /// cache is that of another model.
    fn of(survey: &'b Survey, profile: &Profile, planned: Option<&'b Chosen>) -> Option<Self> {
        match &survey.former {
            Some(former) => Some(Self::Sent(former)).filter(|_| former.profile == profile.id),
            None => planned.map(Self::Planned),
        }
    }

    /// Returns the number of messages it held.
    fn end(&self, survey: &Survey) -> usize {
        match self {
            Self::Planned(before) => before.end,
            Self::Sent(former) => former.messages.min(survey.words.len()),
        }
    }

    /// Returns the reason why a medium was not shown, and the recipe of the picture sent for it.
    fn was(&self, id: MediaId) -> (Option<Reason>, Option<&'b Recipe>) {
        match self {
            Self::Planned(before) => (before.fates[id].hidden(), before.recipes.get(&id)),
            Self::Sent(former) => (former.hides(id), former.recipe(id)),
        }
    }
}

impl Ledger {
    /// Sets the price of the request. If the endpoint caches only what is marked, a request without
    /// a mark is read at the full price, and nothing is written.
    pub(super) fn price(&mut self, profile: &Profile, is_marked: bool) {
        let cache = &profile.cache;
        let is_kept = is_marked || cache.mark.is_none() || cache.marks_tail;
        self.is_cached = is_kept && self.tokens >= cache.min_tokens;
        if self.reusable_tokens < cache.min_tokens {
            self.reusable_messages = 0;
        }
        let kept =
            if self.reusable_messages > 0 { self.reusable_tokens.min(self.tokens) } else { 0 };
        let new = (self.tokens - kept) as f64;
        let (read, write) = (self.ratio(profile, 0, 1), self.ratio(profile, 1, 1));
        self.usd = profile.price.map(|price| price.of(kept as f64 * read + new * write));
    }

    /// Returns the price of a token of a message in this request, as a ratio of the base input
    /// price.
    pub fn token_price(&self, profile: &Profile, message: usize) -> f64 {
        self.ratio(profile, message, self.reusable_messages)
    }

    fn ratio(&self, profile: &Profile, message: usize, reusable: usize) -> f64 {
        match (self.is_cached, message < reusable) {
            (false, _) => 1.0,
            (true, true) => profile.cache.read,
            (true, false) => profile.cache.write,
        }
    }
}

/// Counts the tokens of some messages of a request. The settings count towards the first message.
fn tokens(survey: &Survey, messages: Range<usize>, cost: impl Fn(&Sighting) -> u64) -> u64 {
    let mut bytes: usize = survey.words[messages.clone()].iter().sum();
    if messages.start == 0 {
        bytes += survey.settings;
    }
    let media = survey.sightings.iter().filter(|one| messages.contains(&one.message));
    text_tokens(bytes as u64) + media.map(cost).sum::<u64>()
}

/// Returns the tokens of a medium, made by its recipe if there is one. A medium that is not shown
/// costs a notice.
pub(super) fn cost(
    sighting: &Sighting,
    is_shown: bool,
    recipe: Option<&Recipe>,
    profile: &Profile,
) -> u64 {
    match sighting.kind {
        MediaKind::Image if is_shown => planned_tokens(sighting, recipe, profile),
        MediaKind::Document if is_shown => document_tokens(sighting, profile).0,
        MediaKind::Image | MediaKind::Document | MediaKind::Audio => NOTICE.0,
    }
}
