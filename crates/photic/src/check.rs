//! Findings that depend on the model of a request, and the cost of each.

use crate::finding::{Code, Cost, Finding};
use crate::json::Kind;
use crate::media::{Found, MediaKind};
use crate::plan::{Fate, Plan, Reason, placed, tokens};
use crate::profile::{CallIds, Placement, ToolContent};
use crate::structure::nine_letters;
use crate::survey::Sighting;
use crate::tokens::text_tokens;
use crate::transcript::{MediaId, Message, Role, Transcript};

/// Lists the problems of a request on its own wire: those that [`crate::lift`] found, and those
/// that the plan for this wire has to repair. States the cost of each image that is read as text.
///
/// ```
/// use photic::{Policy, Profile, Wire};
///
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"c","content":"done"}]}"#;
/// let (transcript, lifted) = photic::lift(Wire::OpenAiChat, body);
/// let profile = Profile::generic(Wire::OpenAiChat);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let findings = photic::check(&transcript, &lifted, &plan);
/// assert_eq!(findings[0].code.name(), "orphan_tool_result");
/// ```
pub fn check(transcript: &Transcript<'_>, lifted: &[Finding], plan: &Plan<'_>) -> Vec<Finding> {
    let mut findings = lifted.to_vec();
    for sighting in &plan.survey.sightings {
        let id = sighting.media;
        if sighting.mislabeled {
            findings.push(at_media(transcript, id, Code::WrongLabel));
        }
        let known = |findings: &[Finding], code: Code| {
            findings.iter().any(|other| other.media == Some(id) && other.code == code)
        };
        let spelling = plan.respells(id).then_some(Code::PartSpelling);
        let codes = [wrong_place(sighting, plan), not_shown(plan.fates[id]), spelling];
        for code in codes.into_iter().flatten() {
            if !known(&findings, code) {
                findings.push(at_media(transcript, id, code));
            }
        }
    }
    findings.extend(unbridged(transcript, plan));
    findings.extend(lists_for_strings(transcript, plan));
    findings.extend(misshapen_ids(transcript, plan));
    for finding in &mut findings {
        finding.cost = finding.media.and_then(|id| cost(finding.code, plan, id));
    }
    findings.sort_by(|left, right| {
        left.at.in_order(&right.at).then_with(|| left.code.cmp(&right.code))
    });
    findings
}

/// Returns the problem with the place of a medium. Media found as text have been reported already.
fn wrong_place(sighting: &Sighting, plan: &Plan<'_>) -> Option<Code> {
    if sighting.found == Found::AsText {
        return None;
    }
    match placed(sighting, plan.profile) {
        Fate::Hoist(Reason::ErrorResult) => Some(Code::ImageInErrorResult),
        Fate::Hoist(_) | Fate::Elide(_) => Some(Code::ImageInForbiddenRole),
        Fate::Keep(_) | Fate::Refuse(_) => None,
    }
}

/// Returns the problem that keeps a medium from being shown.
const fn not_shown(fate: Fate) -> Option<Code> {
    let (Fate::Elide(reason) | Fate::Refuse(reason)) = fate else { return None };
    match reason {
        Reason::NoSight => Some(Code::ImageToTextOnlyModel),
        Reason::NoSlot => Some(Code::ImageInForbiddenRole),
        Reason::Unreadable => Some(Code::UnreadableImage),
        Reason::TypeNotAccepted => Some(Code::UnsupportedType),
        Reason::SourceNotAccepted
        | Reason::FetchForbidden
        | Reason::FetchFailed
        | Reason::FetchTooLarge
        | Reason::FetchWrongKind => Some(Code::SourceNotAccepted),
        Reason::OverLimit => Some(Code::OverLimit),
        Reason::OverCount | Reason::OverBudget => Some(Code::TooManyImages),
        Reason::Fits
        | Reason::ResultSlot
        | Reason::ErrorResult
        | Reason::RoleForbids
        | Reason::Retired
        | Reason::Repeated
        | Reason::OnSheet
        | Reason::Summary
        | Reason::Dropped
        | Reason::Cleared => None,
    }
}

/// Finds user messages right after tool results, if the endpoint wants the assistant in between.
fn unbridged(transcript: &Transcript<'_>, plan: &Plan<'_>) -> Vec<Finding> {
    let bridges = plan.profile.placement.image == Placement::AssistantBridge;
    let pairs = transcript
        .messages
        .windows(2)
        .filter(|pair| bridges && pair[0].role == Role::Tool && pair[1].role == Role::User);
    pairs
        .filter_map(|pair| {
            let at = transcript.position_of(pair[1].node?, None);
            Some(Finding { code: Code::UserAfterTool, at, media: None, cost: None })
        })
        .collect()
}

/// Finds tool results that are lists, if the endpoint takes only strings.
fn lists_for_strings(transcript: &Transcript<'_>, plan: &Plan<'_>) -> Vec<Finding> {
    let demanded = plan.profile.quirks.tool_content == ToolContent::String;
    let results = transcript.messages.iter().flat_map(Message::results).filter(|_| demanded);
    results
        .filter_map(|result| result.slot)
        .filter(|&slot| transcript.doc.value(slot).kind() == Kind::Array)
        .map(|slot| {
            let at = transcript.position_of(slot, None);
            Finding { code: Code::ToolContentList, at, media: None, cost: None }
        })
        .collect()
}

/// Finds calls whose id the endpoint's dialect does not take.
fn misshapen_ids(transcript: &Transcript<'_>, plan: &Plan<'_>) -> Vec<Finding> {
    if plan.profile.quirks.call_ids == CallIds::Any {
        return Vec::new();
    }
    let calls = transcript.messages.iter().flat_map(Message::calls);
    calls
        .filter(|call| nine_letters(&call.id.decode()) != call.id.decode())
        .filter_map(|call| {
            let at = transcript.position_of(call.node?, None);
            Some(Finding { code: Code::InvalidCallId, at, media: None, cost: None })
        })
        .collect()
}

fn at_media(transcript: &Transcript<'_>, id: MediaId, code: Code) -> Finding {
    let media = &transcript.media[id];
    let at = transcript.position_of(media.node, media.inner.as_deref());
    Finding { code, at, media: Some(id), cost: None }
}

/// Returns the cost of an image that is read as text. Other findings have no cost.
fn cost(code: Code, plan: &Plan<'_>, id: MediaId) -> Option<Cost> {
    let sighting = &plan.survey.sightings[id];
    let as_image = tokens(sighting, plan.profile)?;
    (code == Code::ImageAsText && sighting.kind == MediaKind::Image)
        .then(|| Cost { as_text: text_tokens(sighting.wire_bytes as u64), as_image })
}
