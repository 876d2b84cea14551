//! `photic` as these tests use it, with a host that prepares images as a recipe orders them.
//!
//! The preparer makes headers only: of a size within the fit, of a weight within the cap, with the
//! numbers of all that they show. It reads a fit by its own lights.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::Source;
use photic::retention::{MaxLoad, Retention};
use photic::{
    Fit, Made, MediaId, Plan, Policy, Prepared, Profile, Purpose, Recipe, Transcript, Wire,
};

use super::choice::{Choice, Keep};
use super::frames::{self, Frame, Kind};
use super::outcome::{Bill, Change, Outcome};

/// Hosts that are tried: those that prepare no images, and those that do.
pub(super) const PIXELS: &[bool] = &[false, true];
/// Whether policies are obeyed, and changes of the prefix ledgered.
pub(super) const POLICIES: bool = true;

/// Lifts, surveys, plans, prepares, lowers.
pub(super) fn lower(from: Wire, body: &[u8], profile: &Profile, choice: &Choice) -> Outcome {
    let (transcript, _) = photic::lift(from, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &policy(choice));
    let (prepared, failed) = prepare(&transcript, &plan, choice.flaky);
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let ledger = &plan.ledger;
    let shown = || plan.survey.sightings.iter().filter(|one| plan.fates[one.media].is_shown());
    // What is prepared, or of unknown size, is guessed at.
    let exact = plan.recipes.is_empty() && shown().all(|one| one.header.size.is_some());
    let bill = Bill { images: ledger.images, image_tokens: exact.then_some(ledger.image_tokens) };
    let settled = !failed && lowered.retired.is_empty();
    let number = |id: &MediaId| number(&transcript, *id);
    Outcome {
        sightings: plan.survey.sightings.len(),
        fates: plan.fates.len(),
        ledger: settled.then_some(bill),
        changed: ledger.changed.map(|change| Change {
            number: number(&change.media),
            rewritten_tokens: change.rewritten_tokens,
        }),
        retired: ledger.retired.iter().chain(&lowered.retired).filter_map(number).collect(),
        failed,
        body: lowered.body.to_vec(),
    }
}

/// The choice as far as it can be made.
pub(super) fn possible(choice: &Choice) -> Choice {
    choice.clone()
}

fn policy(choice: &Choice) -> Policy {
    let mut policy = Policy::default();
    policy.retention = match choice.keep {
        Keep::Priced => Retention::Priced,
        Keep::Turns(turns) => Retention::Turns(turns),
        Keep::Newest(most) => Retention::Newest(most),
        Keep::All => Retention::All,
    };
    policy.room = MaxLoad {
        images: choice.room.images,
        image_tokens: choice.room.image_tokens,
        bytes: choice.room.bytes,
        ..MaxLoad::default()
    };
    if choice.summary {
        policy.purpose = Purpose::Summarize;
    }
    policy.pixels = choice.pixels;
    policy
}

fn number(transcript: &Transcript<'_>, id: MediaId) -> Option<u32> {
    match &transcript.media[id].source {
        Source::Data(payload) => frames::number_in(payload.base64()),
        _ => None,
    }
}

/// What the recipes ask for; every so manieth fails, and so does what has no size or no bytes.
fn prepare(transcript: &Transcript<'_>, plan: &Plan<'_>, flaky: u32) -> (Prepared, bool) {
    let mut prepared = Prepared::new();
    let mut failed = false;
    for (count, (id, recipe)) in (1u32..).zip(&plan.recipes) {
        let fails = flaky > 0 && count.is_multiple_of(flaky);
        match (!fails).then(|| make(transcript, plan, *id, recipe)).flatten() {
            Some(made) => {
                prepared.insert(*id, made);
            }
            None => failed = true,
        }
    }
    (prepared, failed)
}

fn make(
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    id: MediaId,
    recipe: &Recipe,
) -> Option<Made> {
    let (fit, members) = match recipe {
        Recipe::Fit(fit) => (fit, vec![id]),
        Recipe::Sheet { members, fit } => (fit, members.clone()),
    };
    let numbers: Vec<u32> =
        members.iter().map(|id| number(transcript, *id)).collect::<Option<_>>()?;
    let sheet = (1568, 1568);
    let source = if members.len() > 1 { sheet } else { plan.survey.sightings[id].header.size? };
    let size = within(fit, source)?;
    let kind = [Kind::Png, Kind::Jpeg, Kind::Webp].into_iter().find(|kind| {
        let media_type = Frame { kind: *kind, ..Frame::png(0, 1, 1) }.media_type();
        fit.types.is_empty() || fit.types.iter().any(|accepted| accepted == media_type)
    })?;
    let frame = Frame { kind, ..Frame::png(numbers[0], size.0, size.1) };
    let mut bytes = STANDARD.decode(frame.base64()).ok()?;
    for number in &numbers[1..] {
        bytes.extend(format!("photic{number:06}").into_bytes());
    }
    // As heavy as it may be, within reason.
    let most = fit.max_base64_bytes.map_or(usize::MAX, |most| most as usize / 4 * 3);
    let heavy = plan.survey.sightings[id].header.bytes.min(most);
    bytes.resize(bytes.len().max(heavy / 3 * 3), 0);
    let base64 = STANDARD.encode(&bytes);
    let fits = fit.max_base64_bytes.is_none_or(|most| base64.len() as u64 <= most);
    fits.then(|| Made { media_type: frame.media_type().to_owned(), base64, size })
}

/// The largest size of these proportions within the fit, padded where a side is too short.
fn within(fit: &Fit, (width, height): (u32, u32)) -> Option<(u32, u32)> {
    let (mut w, mut h) = (width, height);
    let least = fit.min_edge.unwrap_or(1).max(1);
    let patches = |w: u32, h: u32| u64::from(w.div_ceil(32)) * u64::from(h.div_ceil(32));
    if let Some(most) = fit.max_edge.filter(|most| w.max(h) > *most) {
        let scale =
            |side: u32| (u64::from(side) * u64::from(most) / u64::from(width.max(height))) as u32;
        (w, h) = (scale(width), scale(height));
    }
    while fit.max_patches.is_some_and(|most| patches(w, h) > u64::from(most)) {
        (w, h) = (w * 19 / 20, h * 19 / 20);
    }
    (w, h) = (w.max(least), h.max(least));
    let fits = fit.max_edge.is_none_or(|most| w.max(h) <= most)
        && fit.max_patches.is_none_or(|most| patches(w, h) <= u64::from(most));
    fits.then_some((w, h))
}
