//! Prompt cache breakpoints ("marks"), on wires where a part says that a prefix ends with it.
//!
//! Marks of ours follow these rules:
//!
//! - never more than the wire allows
//! - never in place of those that the client set
//! - never a shorter lifetime before a longer one
//! - never on content that is not a list of parts by itself

use super::decision::Did;
use super::step::Step;
use super::turns::Notes;
use super::write::{Writer, wants_list};
use crate::json::{Kind, NodeId, Out};
use crate::plan::Plan;
use crate::profile::Mark;
use crate::transcript::{CallKind, Home, Life, MediaId, Part, Role, Transcript};

/// Sets the marks that the plan asks for, as far as the wire has marks left.
///
/// Their positions follow from the conversation as it will be sent, so that sending it again puts
/// the marks in the same positions. `tails` has one entry for each turn of the assistant: the
/// index in the transcript, and the number of steps, at which the messages after that turn begin.
pub(super) fn mark(
    plan: &Plan<'_>,
    tails: &[(usize, usize)],
    steps: &mut [Step<'_>],
    notes: &mut Notes<'_, '_>,
) {
    let transcript = notes.transcript;
    let cache = &plan.profile.cache;
    let (Some(marks), Some(mark), Some(most)) = (plan.marks, cache.mark, cache.breakpoints) else {
        return;
    };
    let theirs = Theirs::of(transcript, mark);
    let taken = theirs.marks.len() + usize::from(cache.marks_tail);
    let mut left = (most as usize).saturating_sub(taken);
    let mut ends = vec![before_view(steps, marks.first_view)];
    // A client that sets its own marks knows where its requests end. It does not know which view
    // will be retired next.
    if taken == 0 {
        let former = marks.former.map(|message| before_message(tails, message));
        ends.extend([marks.tail.then_some(steps.len()), former.or_else(|| last_request(steps))]);
    }
    for end in ends.into_iter().flatten() {
        let markable = |step: &Step<'_>| is_markable(transcript, plan, step);
        let Some(at) = steps[..end].iter().rposition(markable).filter(|_| left > 0) else {
            continue;
        };
        if steps[at].message.marked.is_some() || has_mark(transcript, mark, &steps[at]) {
            continue;
        }
        let Some(life) = theirs.life_at(transcript, steps, at) else { continue };
        let step = &mut steps[at];
        step.message.marked = Some(life);
        step.touched = true;
        left -= 1;
        notes.add(Did::Marked, step);
    }
}

/// The marks that the client set.
struct Theirs {
    /// The start of each mark in the body, and the lifetime of the prefix it ends.
    marks: Vec<(usize, Life)>,
    /// The start of the mark of the whole request. It counts as a mark behind the request's end.
    whole: Option<usize>,
    /// The range of the list of messages.
    list: std::ops::Range<usize>,
}

impl Theirs {
    fn of(transcript: &Transcript<'_>, mark: Mark) -> Self {
        let doc = &transcript.doc;
        let objects = (0..doc.len())
            .map(|id| doc.value(id as NodeId))
            .filter(|one| one.kind() == Kind::Object);
        let marks = objects.flat_map(|object| {
            let own = object.entries().filter(|(key, _)| key.is(mark.name()));
            own.map(|(_, value)| {
                let life = if mark.is_long(value) { Life::Long } else { Life::Usual };
                (value.span().start, life)
            })
        });
        let list = transcript.list.map_or(0..0, |list| doc.value(list).span());
        let whole = doc.root().and_then(|root| root.get(mark.name()));
        let whole = whole.map(|value| value.span().start);
        Self { marks: marks.collect(), whole, list }
    }

    /// Returns the lifetime that a mark of ours behind a step must ask for: no shorter one may
    /// precede a longer one. Returns `None` if no mark is allowed there.
    fn life_at(&self, transcript: &Transcript<'_>, steps: &[Step<'_>], at: usize) -> Option<Life> {
        let span_of = |step: &Step<'_>| {
            let node = transcript.messages[step.origin?].node?;
            Some(transcript.doc.value(node).span())
        };
        let within = |step: &Step<'_>, life: Life| {
            let span = span_of(step).filter(|_| step.message.home == Home::List);
            let is_in = |start: usize| span.as_ref().is_some_and(|span| span.contains(&start));
            self.marks.iter().any(|&(start, own)| own == life && is_in(start))
        };
        // Marks beside the messages come before them, except for the mark of the whole request.
        let beside = |life: Life, is_whole: bool| {
            self.marks.iter().any(|&(start, own)| {
                own == life
                    && !self.list.contains(&start)
                    && (self.whole == Some(start)) == is_whole
            })
        };
        let long_follows =
            steps[at + 1..].iter().any(|step| within(step, Life::Long)) || beside(Life::Long, true);
        let short_precedes =
            steps[..=at].iter().any(|step| within(step, Life::Usual)) || beside(Life::Usual, false);
        match (long_follows, short_precedes) {
            (false, _) => Some(Life::Usual),
            (true, false) => Some(Life::Long),
            (true, true) => None,
        }
    }
}

/// Returns `true` if the part that would carry a mark already has one.
fn has_mark(transcript: &Transcript<'_>, mark: Mark, step: &Step<'_>) -> bool {
    let marked = |part: &Part<'_>| {
        part.node().is_some_and(|node| transcript.doc.value(node).get(mark.name()).is_some())
    };
    step.message.parts.last().is_some_and(|part| match part {
        // On wires where a result is a unit, its last part carries the mark.
        Part::Result(result) if step.message.role == Role::Tool => {
            result.content.last().is_some_and(marked)
        }
        part => marked(part),
    })
}

/// Returns the number of steps before the results of the turn in which a view is shown.
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

/// Returns the number of steps before the results that a message belongs to.
fn before_message(tails: &[(usize, usize)], message: usize) -> usize {
    tails.iter().rev().find(|(start, _)| *start <= message).map_or(0, |(_, steps)| *steps)
}

/// Returns the number of steps that the previous request had.
fn last_request(steps: &[Step<'_>]) -> Option<usize> {
    let last = steps.iter().rposition(is_assistant)?;
    Some(steps[..last].iter().rposition(|step| !is_assistant(step)).map_or(0, |at| at + 1))
}

fn is_assistant(step: &Step<'_>) -> bool {
    step.message.role == Role::Assistant
}

fn is_markable(transcript: &Transcript<'_>, plan: &Plan<'_>, step: &Step<'_>) -> bool {
    let message = &step.message;
    message.home == Home::List
        && plan.profile.wire.rules().markable.contains(&message.role)
        && message.parts.last().is_some_and(takes_mark)
        && is_list(transcript, plan, step)
}

/// Returns `true` if a step is a list of parts even without a mark. A mark that moves on must
/// leave the step in the same shape.
fn is_list(transcript: &Transcript<'_>, plan: &Plan<'_>, step: &Step<'_>) -> bool {
    let message = &step.message;
    let same_wire = transcript.own_wire() == Some(plan.profile.wire);
    if same_wire && step.origin.is_some() && !step.touched {
        let is_array = |slot| transcript.doc.value(slot).kind() == Kind::Array;
        return message.slot.is_some_and(is_array);
    }
    let is_single_text = matches!(
        message.parts.as_slice(),
        [Part::Text(only)] if only.node.is_none() || !same_wire
    );
    let rules = plan.profile.wire.rules();
    if message.role == Role::Tool && !rules.nests_results {
        return message.results().all(|result| wants_list(transcript, plan, result));
    }
    rules.lists_content || !is_single_text
}

/// Returns `true` if a part may carry a mark.
fn takes_mark(part: &Part<'_>) -> bool {
    match part {
        Part::Text(text) => !text.is_blank(),
        Part::Media(_) | Part::Call(_) => true,
        // A slot for a screenshot holds nothing else.
        Part::Result(result) => {
            !matches!(result.kind, CallKind::Screen | CallKind::Hosted)
                && result.content.last().is_some_and(takes_mark)
        }
        Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Thinking(_)
        | Part::Mark(_)
        | Part::Refusal(_)
        | Part::Opaque(_) => false,
    }
}

impl<'a> Writer<'_, 'a> {
    /// Adds a mark to the part that was written last.
    pub(crate) fn mark(&self, out: &mut Out<'a>, life: Life) {
        if let Some(mark) = self.plan.profile.cache.mark {
            let value = match life {
                Life::Usual => mark.value(),
                Life::Long => mark.long_value(),
            };
            out.reopen().json(",").key(mark.name()).json(value).json("}");
        }
    }
}
