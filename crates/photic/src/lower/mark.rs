//! Marks for the endpoint's cache, on wires where a part says that a prefix ends with it.
//!
//! Never more than the wire allows, and never in place of those that the client set.

use super::place::Step;
use super::write::Writer;
use crate::json::{Doc, Kind, NodeId, Out};
use crate::plan::Plan;
use crate::transcript::{CallKind, Home, MediaId, Part, Role, Transcript};
use crate::wire::Wire;

/// Marks what the plan wants marked, as far as marks are left.
///
/// Where that is follows from the conversation as it will be sent, so that sending it again finds
/// the marks where they are. `tails` says where in the transcript, and after how many steps, what
/// follows each turn of the assistant begins.
pub(super) fn mark(
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    tails: &[(usize, usize)],
    steps: &mut [Step<'_>],
) {
    let cache = &plan.profile.cache;
    let (Some(marks), Some(mark), Some(most)) = (plan.marks, cache.mark, cache.breakpoints) else {
        return;
    };
    let taken = count(&transcript.doc, mark.name()) + usize::from(cache.marks_tail);
    let mut left = (most as usize).saturating_sub(taken);
    let mut ends = vec![before_view(steps, marks.first_view)];
    // A client that marks its own requests knows where they end; what it does not know is which
    // view will be retired next.
    if taken == 0 {
        let former = marks.former.map(|message| before_message(tails, message));
        ends.extend([marks.tail.then_some(steps.len()), former.or_else(|| last_request(steps))]);
    }
    for end in ends.into_iter().flatten() {
        let last = steps[..end].iter_mut().rev().find(|step| is_markable(plan.profile.wire, step));
        let Some(step) = last.filter(|step| left > 0 && !step.message.marked) else { continue };
        let last_part = step.message.parts.last().and_then(Part::node);
        let has_mark = |node| transcript.doc.value(node).get(mark.name()).is_some();
        if !last_part.is_some_and(has_mark) {
            step.message.marked = true;
            step.touched = true;
            left -= 1;
        }
    }
}

/// How many steps precede the results of the turn in which a view is shown.
fn before_view(steps: &[Step<'_>], view: MediaId) -> Option<usize> {
    let shows = |step: &Step<'_>| {
        let mut found = false;
        let parts = step.message.parts.iter();
        parts.for_each(|part| part.each_media(&mut |id| found |= id == view));
        found
    };
    let shown = steps.iter().position(shows)?;
    Some(steps[..shown].iter().rposition(is_assistant).map_or(0, |last| last + 1))
}

/// How many steps precede the results among which a message stands.
fn before_message(tails: &[(usize, usize)], message: usize) -> usize {
    tails.iter().rev().find(|(start, _)| *start <= message).map_or(0, |(_, steps)| *steps)
}

/// How many steps the request before this one had.
fn last_request(steps: &[Step<'_>]) -> Option<usize> {
    let last = steps.iter().rposition(is_assistant)?;
    Some(steps[..last].iter().rposition(|step| !is_assistant(step)).map_or(0, |at| at + 1))
}

fn is_assistant(step: &Step<'_>) -> bool {
    step.message.role == Role::Assistant
}

fn is_markable(wire: Wire, step: &Step<'_>) -> bool {
    let message = &step.message;
    let roles = match wire {
        Wire::Anthropic => matches!(message.role, Role::User | Role::Tool | Role::Assistant),
        Wire::OpenAiChat | Wire::OpenAiResponses => {
            matches!(message.role, Role::User | Role::Tool)
        }
        // No part of these carries a mark.
        Wire::Gemini | Wire::Converse | Wire::Ollama => false,
    };
    message.home == Home::List && roles && message.parts.last().is_some_and(takes_mark)
}

/// Whether a part may carry a mark.
fn takes_mark(part: &Part<'_>) -> bool {
    match part {
        Part::Text(text) => !text.is_blank(),
        Part::Media(_) | Part::Call(_) => true,
        // A slot for a picture of the screen holds nothing else.
        Part::Result(result) => {
            result.kind != CallKind::Screen && result.content.last().is_some_and(takes_mark)
        }
        Part::Woven(_)
        | Part::Nested(_)
        | Part::Thinking(_)
        | Part::Mark(_)
        | Part::Refusal(_)
        | Part::Opaque(_) => false,
    }
}

/// How many members of that name the body holds, at whatever depth.
fn count(doc: &Doc<'_>, name: &str) -> usize {
    let objects =
        (0..doc.len()).map(|id| doc.value(id as NodeId)).filter(|one| one.kind() == Kind::Object);
    objects.map(|object| object.entries().filter(|(key, _)| key.is(name)).count()).sum()
}

impl<'a> Writer<'_, 'a> {
    /// Marks the part that was written last.
    pub(crate) fn mark(&self, out: &mut Out<'a>) {
        if let Some(mark) = self.plan.profile.cache.mark {
            out.reopen().json(",").key(mark.name()).json(mark.value()).json("}");
        }
    }
}
