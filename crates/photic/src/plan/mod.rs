//! Chooses one fate for every sighting, with its reason.
//!
//! The plan is a pure function of the survey, the profile and the policy. This module knows no
//! provider and no wire: all differences between them are data in the profile.

mod alone;
mod choice;
mod clear;
mod fate;
mod former;
mod ledger;
mod limits;
mod marks;
mod recipe;
pub mod retention;
mod sent;
mod views;

pub(crate) use alone::placed;
pub use choice::Choice;
pub use fate::{Fate, Reason};
pub use former::{Former, Gone};
pub use ledger::{Change, Ledger};
pub(crate) use limits::shed;
pub(crate) use marks::Marks;
pub use recipe::{Fit, Made, Prepared, Recipe};
pub(crate) use views::max_load;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::media::{Digest, Found, index_by_media};
use crate::notice;
use crate::profile::{Detail, Profile};
use crate::survey::{Sighting, Survey};
use crate::tokens::{Basis, text_tokens};
use crate::transcript::{MediaId, Transcript};
use crate::wire::Wire;
use retention::{Floor, Keeper, MaxLoad, Retention};
use views::RetentionState;

/// The choices of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Policy {
    /// The retention policy of views.
    pub retention: Retention,
    /// The number of newest views that the price never retires.
    pub floor: usize,
    /// The number of newest turns whose views the price never retires.
    pub recent_turns: usize,
    /// Minimum saving for which the price retires views, in tokens at the base input price.
    pub least_saving: u64,
    /// The number of turns for which a retirement should last. The price never acts twice within
    /// this many turns. A limit retires as many pictures as the next turns are expected to need.
    /// With 0, a limit retires no more than it must.
    pub interval: usize,
    /// The host's own budgets, in addition to the endpoint's limits.
    pub room: MaxLoad,
    /// The purpose of the request.
    pub purpose: Purpose,
    /// `true` if the host can make pictures. Then the plan holds recipes, and pictures that would
    /// be refused are shrunk or converted instead.
    pub pixels: bool,
    /// `true` to mark where the endpoint's cache should keep a prefix.
    pub marks: bool,
    /// The user's choices for single pictures. They apply only to pictures that were identified
    /// ([`Survey::identify`]).
    #[serde(with = "choice::by_hex", skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<Digest, Choice>,
    /// Media that gave way in the previous request. They stay out of sight, whatever is known or
    /// chosen now, unless the user pinned them. An entry applies only if the medium was identified
    /// ([`Survey::identify`]) and still has these bytes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub retired: BTreeMap<MediaId, Gone>,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// The conversation goes on.
    #[default]
    Converse,
    /// The conversation is to be summarized: notices replace all media.
    Summarize,
}

impl Default for Policy {
    /// Returns the policy of a host that chose no other. Everything stays in sight until a limit of
    /// the endpoint is met, except for what [`Retention::All`] retires. Requests gain no cache
    /// marks.
    fn default() -> Self {
        let Floor { views, turns, saving, interval } = Floor::default();
        Self {
            retention: Retention::default(),
            floor: views,
            recent_turns: turns,
            least_saving: saving,
            interval,
            room: MaxLoad::default(),
            purpose: Purpose::default(),
            pixels: false,
            marks: false,
            choices: BTreeMap::new(),
            retired: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// Returns a policy that changes as little as possible of what the endpoint would accept. It is
    /// the default, except that a limit retires no more than this request needs.
    pub fn hands_off() -> Self {
        Self { interval: 0, ..Self::default() }
    }

    /// Returns the conditions under which views are retired.
    const fn price_floor(&self) -> Floor {
        let Self { floor: views, recent_turns: turns, least_saving: saving, interval, .. } = *self;
        Floor { views, turns, saving, interval }
    }
}

/// The fates of all sightings, with what is needed to carry them out.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// The profile it was made for.
    pub profile: &'p Profile,
    /// The fate of each medium, by id.
    pub fates: Vec<Fate>,
    /// The recipes of media that cannot be sent as they are.
    pub recipes: BTreeMap<MediaId, Recipe>,
    /// The survey it was made from.
    pub survey: Survey,
    /// The estimated cost.
    pub ledger: Ledger,
    /// The tool results that are cleared: message and part of each.
    pub(crate) cleared: BTreeSet<(usize, usize)>,
    /// The media that the user pinned.
    pub(crate) pinned: BTreeSet<MediaId>,
    /// The positions where the cache should keep a prefix.
    pub(crate) marks: Option<Marks>,
}

/// Chooses a fate for every sighting: where it is shown, or why it is not.
///
/// A pure function: the same survey, profile and policy give the same plan on any machine.
///
/// ```
/// use photic::{Fate, Policy, Profile, Reason, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":[
///   {"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let profile = Profile::generic(Wire::OpenAiChat);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// assert_eq!(plan.fates, [Fate::Keep(Reason::Fits)]);
/// ```
pub fn plan<'p>(mut survey: Survey, profile: &'p Profile, policy: &Policy) -> Plan<'p> {
    for sighting in &mut survey.sightings {
        sighting.detail = stated(sighting, survey.wire, profile);
    }
    let (mut now, mut before) = Chosen::made(&survey, profile, policy);
    let cleared = clear::clear(&mut survey, profile, &mut now, before.as_mut());
    let mut ledger = ledger::bill(&survey, profile, &now, before.as_ref());
    let marks =
        marks::places(&survey, profile, &now, before.as_ref(), &ledger).filter(|_| policy.marks);
    ledger.price(profile, survey.is_marked || marks.is_some());
    let Chosen { fates, recipes, .. } = now;
    let pinned = limits::pinned(&survey, policy);
    Plan { profile, fates, recipes, survey, ledger, cleared, pinned, marks }
}

impl Plan<'_> {
    /// Returns the text that the model reads in place of a medium. Returns `None` if the medium is
    /// shown.
    pub fn notice(&self, id: MediaId) -> Option<String> {
        let sighting = self.survey.sightings.get(id.index())?;
        let fate = self.fates[id];
        match (fate.is_shown(), self.cell(id)) {
            (true, _) => None,
            (false, Some(cell)) => Some(notice::on_sheet(cell)),
            (false, None) => Some(notice::not_shown(sighting, fate.reason())),
        }
    }

    /// Counts the media that gave way to others, by reason. `shed` lists those that a written body
    /// had no room for ([`Lowered::retired`](crate::Lowered::retired)).
    pub fn retired(&self, shed: &[MediaId]) -> BTreeMap<Reason, usize> {
        let mut counts = BTreeMap::new();
        for sighting in &self.survey.sightings {
            let reason = match self.fates[sighting.media] {
                _ if shed.contains(&sighting.media) => Reason::OverBudget,
                Fate::Elide(reason) => reason,
                Fate::Keep(_) | Fate::Hoist(_) | Fate::Refuse(_) => continue,
            };
            // An image that is too large for a crowd is elided; one that is too large by itself is
            // refused.
            if reason.gave_way() || matches!(reason, Reason::OverLimit | Reason::Cleared) {
                *counts.entry(reason).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the tokens that a medium costs in the request: as it is sent, or those of the notice
    /// in its place.
    pub fn tokens(&self, id: MediaId) -> u64 {
        let sighting = self.survey.sightings.get(id.index());
        sighting.filter(|one| !self.survey.is_for_code(one, self.profile)).map_or(0, |sighting| {
            let is_shown = self.fates[id].is_shown();
            ledger::cost(sighting, is_shown, self.recipes.get(&id), self.profile)
        })
    }

    /// Returns `true` if the plan was made for this transcript or for one like it: as many
    /// messages, and media of the same kinds.
    ///
    /// A host may lift a body again between planning and lowering, so the plan does not borrow from
    /// the transcript. This check is cheap enough for every request.
    pub(crate) fn fits(&self, transcript: &Transcript<'_>) -> bool {
        let sightings = &self.survey.sightings;
        let media = &transcript.media;
        let is_known = |id: &MediaId| id.index() < media.len();
        let members = self.recipes.values().flat_map(Recipe::members);
        self.survey.words.len() == transcript.messages.len()
            && sightings.len() == media.len()
            && self.fates.len() == media.len()
            && sightings.iter().zip(media).enumerate().all(|(index, (sighting, media))| {
                sighting.media.index() == index && sighting.kind == media.kind
            })
            && self.recipes.keys().chain(members).all(is_known)
    }

    /// Returns the cell of a sheet that shows a medium, counted from 1.
    pub(crate) fn cell(&self, id: MediaId) -> Option<usize> {
        let place = |recipe: &Recipe| recipe.members().iter().position(|&member| member == id);
        self.recipes.values().find_map(place).map(|index| index + 1)
    }

    /// Returns the plan as it can be carried out: pictures that could not be made are not shown.
    pub(crate) fn as_prepared(&self, prepared: &Prepared) -> Cow<'_, Self> {
        let mut plan = Cow::Borrowed(self);
        for (&id, recipe) in &self.recipes {
            if prepared.contains_key(&id) {
                continue;
            }
            let plan = plan.to_mut();
            plan.recipes.remove(&id);
            match recipe {
                Recipe::Fit(_) => plan.fates[id] = Fate::Refuse(Reason::OverLimit),
                Recipe::Sheet { members, .. } => {
                    for &member in members {
                        plan.fates[member] = Fate::Elide(Reason::OverCount);
                    }
                }
            }
        }
        plan
    }
}

index_by_media!(Fate);

/// Returns the fate of every medium by itself, and the recipes they need.
fn alone(
    survey: &Survey,
    profile: &Profile,
    policy: &Policy,
) -> (Vec<Fate>, BTreeMap<MediaId, Recipe>) {
    let mut recipes = BTreeMap::new();
    let mut fates = Vec::with_capacity(survey.sightings.len());
    for sighting in &survey.sightings {
        let (fate, recipe) = alone::alone(sighting, survey.wire, profile, policy);
        recipes.extend(recipe.map(|recipe| (sighting.media, recipe)));
        fates.push(fate);
    }
    (fates, recipes)
}

/// The fates of all media in one request of a conversation.
#[derive(Debug)]
struct Chosen {
    /// The number of messages the request held.
    end: usize,
    fates: Vec<Fate>,
    recipes: BTreeMap<MediaId, Recipe>,
    /// The media that were retired from the request as a whole.
    retired: Vec<MediaId>,
    /// The media that may be retired, in order.
    views: Vec<MediaId>,
    keeper: Keeper,
}

impl Chosen {
    /// Chooses for this request, and for the previous one if there was one.
    fn made(survey: &Survey, profile: &Profile, policy: &Policy) -> (Self, Option<Self>) {
        let (fates, recipes) = alone(survey, profile, policy);
        // A user's choice for one picture does not affect others: views are retired as if nothing
        // had been chosen.
        let (now, before) = if policy.choices.is_empty() {
            views::keep(survey, profile, policy, (&fates, &recipes))
        } else {
            let usual = Policy { choices: BTreeMap::new(), ..policy.clone() };
            let (fates, recipes) = alone(survey, profile, &usual);
            views::keep(survey, profile, &usual, (&fates, &recipes))
        };
        let made = |kept: RetentionState, fates, recipes| {
            let RetentionState { end, keeper, views } = kept;
            let mut choice = Self { end, fates, recipes, retired: Vec::new(), views, keeper };
            limits::together(&mut choice, survey, profile, policy);
            choice
        };
        let before = before.map(|kept| made(kept, fates.clone(), recipes.clone()));
        (made(now, fates, recipes), before)
    }

    /// Returns the media of the request, in order.
    fn scope<'s>(&self, survey: &'s Survey) -> impl Iterator<Item = &'s Sighting> + use<'s> {
        let end = self.end;
        survey.sightings.iter().filter(move |sighting| sighting.message < end)
    }
}

/// Returns the detail that the part of a medium states when it is sent. A part that is sent as it
/// came keeps its own detail, if it has one. A part that is written here states a detail that the
/// endpoint accepts.
fn stated(sighting: &Sighting, from: Option<Wire>, profile: &Profile) -> Option<Detail> {
    let quirks = &profile.quirks;
    let in_place = matches!(sighting.found, Found::Typed | Found::Mended | Found::Fetched)
        && matches!(placed(sighting, profile), Fate::Keep(_));
    let same_wire = from == Some(profile.wire);
    if same_wire && in_place {
        return sighting.detail;
    }
    let is_word = |detail: &Detail| {
        quirks.details.contains(detail) || (same_wire && quirks.details.is_empty())
    };
    sighting.detail.filter(is_word).or(quirks.detail)
}

/// Returns the tokens of a picture, or `None` if its size is unknown.
pub(crate) fn tokens(sighting: &Sighting, profile: &Profile) -> Option<u64> {
    let (width, height) = sighting.header.size?;
    Some(profile.image_tokens(width, height, sighting.detail))
}

/// Returns the tokens of a picture, made by its recipe if there is one. Guesses an unknown size.
fn planned_tokens(sighting: &Sighting, recipe: Option<&Recipe>, profile: &Profile) -> u64 {
    let (width, height) = planned_size(sighting, recipe);
    profile.image_tokens(width, height, sighting.detail)
}

/// Returns the tokens that a picture may cost beyond the estimate, if the model's price is unknown.
fn doubtful_tokens(sighting: &Sighting, recipe: Option<&Recipe>, profile: &Profile) -> u64 {
    let (width, height) = planned_size(sighting, recipe);
    profile.most_image_tokens(width, height, sighting.detail).saturating_sub(profile.image_tokens(
        width,
        height,
        sighting.detail,
    ))
}

/// Returns the tokens of a shown document, and how they are known. Text is counted as text.
fn document_tokens(sighting: &Sighting, profile: &Profile) -> (u64, Basis) {
    let media_type = sighting.header.media_type.or(sighting.declared.as_deref());
    if media_type.is_some_and(|name| name.starts_with("text/")) {
        return (text_tokens(sighting.header.bytes as u64), Basis::Published);
    }
    profile.document_tokens(sighting.pages, sighting.header.bytes, sighting.detail)
}

fn planned_size(sighting: &Sighting, recipe: Option<&Recipe>) -> (u32, u32) {
    /// A screen at about the size that most models see.
    const UNKNOWN: (u32, u32) = (1280, 800);
    let size = sighting.header.size.unwrap_or(UNKNOWN);
    recipe.map_or(size, |recipe| recipe.fit().size(size))
}

/// Returns the bytes of a medium in the body, made by its recipe if there is one.
fn planned_bytes(sighting: &Sighting, recipe: Option<&Recipe>) -> u64 {
    let bytes = sighting.wire_bytes as u64;
    match recipe.map(Recipe::fit) {
        Some(Fit { max_base64_bytes: Some(most), .. }) => bytes.min(*most),
        _ => bytes,
    }
}
