//! `photic` as these tests use it: the planner before it had policies.
//!
//! `subject_next.rs` is the same door to the planner with policies, ledgered changes and prepared
//! images; `mod.rs` says which of the two is open.

use photic::media::Source;
use photic::{Policy, Profile, Wire};

use super::choice::{Choice, Keep};
use super::frames;
use super::outcome::{Bill, Outcome};

/// Hosts that are tried: those that prepare no images.
pub(super) const PIXELS: &[bool] = &[false];
/// Whether policies are obeyed, and changes of the prefix ledgered.
pub(super) const POLICIES: bool = false;

/// Lifts, surveys, plans, lowers.
pub(super) fn lower(from: Wire, body: &[u8], profile: &Profile, choice: &Choice) -> Outcome {
    assert!(!choice.pixels && choice.keep == Keep::Priced && !choice.summary);
    let (transcript, _) = photic::lift(from, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &Policy::default());
    let lowered = photic::lower(&transcript, &plan);
    let number = |id: &usize| match &transcript.media[*id].source {
        Source::Data(payload) => frames::number_in(payload.base64()),
        _ => None,
    };
    let ledger = &plan.ledger;
    let bill = Bill { images: ledger.images, image_tokens: Some(ledger.image_tokens) };
    Outcome {
        sightings: plan.survey.sightings.len(),
        fates: plan.fates.len(),
        ledger: lowered.retired.is_empty().then_some(bill),
        changed: None,
        retired: ledger.retired.iter().chain(&lowered.retired).filter_map(number).collect(),
        failed: false,
        body: lowered.body.to_vec(),
    }
}

/// The choice as far as it can be made.
pub(super) fn possible(_: &Choice) -> Choice {
    Choice::default()
}
