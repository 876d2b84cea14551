//! Writes a transcript and a plan as a body. The same wire keeps every byte that the plan did not
//! touch; another wire is written from the transcript.

mod arguments;
mod bundle;
mod decision;
mod mark;
mod names;
mod nested;
mod parts;
mod place;
mod schema;
mod sent_parts;
mod settings;
mod splice;
mod step;
mod tools;
mod turns;
mod unchanged;
mod unread;
mod write;

pub use decision::{Because, Decision, Did, Field};
pub use names::{RenamedTool, renamed_tools};
pub(crate) use names::{SEPARATOR, SentNames};
pub(crate) use schema::{ANY_OBJECT, NO_ARGUMENTS};
pub use sent_parts::SentParts;
pub(crate) use settings::{Members, members};
pub(crate) use step::Step;
pub(crate) use unread::Unread;
pub(crate) use write::{Writer, decoded_text, joined, list_of_strings, texts};

use std::borrow::Cow;
use std::ops::Range;

use crate::json::Segments;
use crate::plan::{Plan, Policy, Prepared, plan, shed};
use crate::profile::Profile;
use crate::structure::{self, Reader};
use crate::survey::survey;
use crate::transcript::{MediaId, Transcript};

/// A body ready to be sent, and the changes that were made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lowered<'a> {
    /// The body, in segments that mostly borrow from the one that came in.
    pub body: Segments<'a>,
    /// The changes, in the order of the conversation.
    pub decisions: Vec<Decision>,
    /// Media that the plan would have shown, but that made the body too large. If one of them was
    /// shown in an earlier turn, the prefix of the request changes.
    pub retired: Vec<MediaId>,
    /// The spans of the body that came in that were replaced, in order, if it keeps its wire.
    pub(crate) replaced: Vec<Replaced>,
}

/// A span of the body that came in, and what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The span. It is empty where something was added.
    pub(crate) span: Range<usize>,
    /// The length of what is written instead.
    pub(crate) length: usize,
}

impl<'a> Lowered<'a> {
    /// Creates the result for a body that is sent as it came.
    fn unchanged(body: &'a [u8]) -> Self {
        let body = Segments::whole(body);
        Self { body, decisions: Vec::new(), retired: Vec::new(), replaced: Vec::new() }
    }
}

/// Writes a request body for the plan's wire, no larger than its profile allows.
///
/// Use it for plans without recipes. A picture that a recipe should have made is replaced by a
/// notice.
///
/// A plan that was made for another transcript is not used. The transcript is planned again under
/// the default policy, and the first decision says so ([`Did::PlannedAgain`]).
///
/// ```
/// use photic::{Policy, Profile, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let profile = Profile::generic(Wire::Anthropic);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let lowered = photic::lower(&transcript, &plan);
/// // Anthropic demands `max_tokens`, which the request did not say.
/// assert_eq!(lowered.decisions[0].did.name(), "added_field");
/// ```
pub fn lower<'a>(transcript: &Transcript<'a>, plan: &Plan<'_>) -> Lowered<'a> {
    lower_prepared(transcript, plan, const { &Prepared::new() })
}

/// Writes a request body as [`lower`] does, with the pictures that the plan's recipes asked for.
///
/// ```
/// use photic::{Policy, Prepared, Profile, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let profile = Profile::generic(Wire::OpenAiChat);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let prepared = Prepared::new();
/// assert!(photic::lower_prepared(&transcript, &plan, &prepared).body.is(body));
/// ```
pub fn lower_prepared<'a>(
    transcript: &Transcript<'a>,
    plan: &Plan<'_>,
    prepared: &'a Prepared,
) -> Lowered<'a> {
    if !transcript.is_readable() {
        return Lowered::unchanged(transcript.body);
    }
    if !plan.fits(transcript) {
        return planned_again(transcript, plan.profile);
    }
    let most =
        plan.profile.limits.request_bytes.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    let mut plan = plan.as_prepared(prepared);
    let mut lowered = write(transcript, &plan, prepared);
    // Each round removes at least the excess, as long as there is something to remove.
    while let Some(excess) = most.and_then(|most| lowered.body.len().checked_sub(most + 1)) {
        let retired = shed(Cow::to_mut(&mut plan), excess + 1);
        if retired.is_empty() {
            break;
        }
        let before = std::mem::take(&mut lowered.retired);
        lowered = write(transcript, &plan, prepared);
        lowered.retired = [before, retired].concat();
    }
    lowered
}

/// Lowers with a new plan, because the plan that was passed belongs to another transcript.
fn planned_again<'a>(transcript: &Transcript<'a>, profile: &Profile) -> Lowered<'a> {
    let plan = plan(survey(transcript), profile, &Policy::default());
    let mut lowered = lower(transcript, &plan);
    lowered.decisions.insert(0, Decision { did: Did::PlannedAgain, at: None, media: None });
    lowered
}

fn write<'a>(transcript: &Transcript<'a>, plan: &Plan<'_>, prepared: &'a Prepared) -> Lowered<'a> {
    let wire = plan.profile.wire;
    let crosses = transcript.own_wire() != Some(wire);
    let reader = if crosses { Reader::OtherWire } else { Reader::OwnWire };
    let segments = structure::segments(transcript, reader);
    let renames = structure::renames(transcript, &segments, wire, plan.profile.quirks.call_ids);
    let is_unchanged =
        !crosses && renames.is_empty() && unchanged::is_unchanged(transcript, plan, &segments);
    let write = || {
        let placed = place::place(transcript, plan, &segments, renames);
        write_placed(transcript, plan, prepared, placed)
    };
    if !is_unchanged {
        return write();
    }
    debug_assert!({
        let written = write();
        written.decisions.is_empty() && written.body.is(transcript.body)
    });
    Lowered::unchanged(transcript.body)
}

fn write_placed<'a>(
    transcript: &Transcript<'a>,
    plan: &Plan<'_>,
    prepared: &'a Prepared,
    (mut steps, mut decisions): (Vec<Step<'a>>, Vec<Decision>),
) -> Lowered<'a> {
    let crosses = transcript.own_wire() != Some(plan.profile.wire);
    let mut writer = Writer::new(transcript, plan, prepared);
    if crosses {
        writer.names = SentNames::of(transcript, plan.profile);
        names::rename(transcript, &writer.names, &mut steps, &mut decisions);
    }
    let (body, replaced) = if crosses {
        (plan.profile.wire.protocol().body(&mut writer, &steps), Vec::new())
    } else {
        splice::splice(&writer, &steps)
    };
    if crosses {
        writer.note_unread();
    }
    decisions.append(&mut writer.decisions);
    // Every change must be reported, even one without another decision.
    if !crosses && decisions.is_empty() && !body.is(transcript.body) {
        decisions.push(Decision { did: Did::Respelled, at: None, media: None });
    }
    Lowered { body, decisions, retired: Vec::new(), replaced }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lift::lift;
    use crate::wire::Wire;

    #[test]
    fn a_plan_of_another_transcript_is_not_carried_out() {
        let words = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
        let picture = br#"{"messages":[{"role":"user","content":[
            {"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}]}"#;
        let (words, picture) = (lift(Wire::OpenAiChat, words).0, lift(Wire::OpenAiChat, picture).0);
        let profile = Profile::generic(Wire::Anthropic);
        let own = plan(survey(&picture), &profile, &Policy::default());
        let foreign = plan(survey(&words), &profile, &Policy::default());
        let expected = lower(&picture, &own);
        let lowered = lower(&picture, &foreign);
        assert_eq!(lowered.body.to_vec(), expected.body.to_vec());
        assert_eq!(lowered.decisions[0].did, Did::PlannedAgain);
        assert_eq!(lowered.decisions[1..], expected.decisions);
        assert_eq!(lower(&words, &own).decisions[0].did, Did::PlannedAgain);
    }
}
