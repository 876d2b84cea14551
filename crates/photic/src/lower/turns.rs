//! Fixes the order of turns for endpoints that restrict it, after everything is placed.

use std::collections::BTreeMap;

use super::decision::{Because, Decision, Did};
use super::step::Step;
use crate::json::NodeId;
use crate::notice;
use crate::transcript::{Message, Part, Role, Transcript};

/// Collects decisions about turns.
pub(super) struct Notes<'n, 'a> {
    pub(super) transcript: &'n Transcript<'a>,
    pub(super) decisions: Vec<Decision>,
}

impl Notes<'_, '_> {
    /// Notes a change to a step.
    pub(super) fn add(&mut self, did: Did, step: &Step<'_>) {
        self.at(did, step.message.node);
    }

    /// Notes a change to the value at a node.
    pub(super) fn at(&mut self, did: Did, node: Option<NodeId>) {
        let at = node.map(|node| self.transcript.position_of(node, None));
        self.decisions.push(Decision { did, at, media: None });
    }
}

/// Puts a short assistant message wherever a user message follows tool results.
pub(super) fn bridge<'a>(steps: Vec<Step<'a>>, notes: &mut Notes<'_, '_>) -> Vec<Step<'a>> {
    let mut bridged: Vec<Step<'a>> = Vec::with_capacity(steps.len());
    for step in steps {
        let after_results = bridged.last().is_some_and(|before| before.message.role == Role::Tool);
        if after_results && step.message.role == Role::User {
            notes.add(Did::AddedBridge, &step);
            bridged
                .push(Step::ours(Message::new(Role::Assistant, vec![Part::note(notice::BRIDGE)])));
        }
        bridged.push(step);
    }
    bridged
}

/// Opens a conversation that is empty or would start with the assistant.
pub(super) fn start_with_user(
    steps: &mut Vec<Step<'_>>,
    same_wire: bool,
    notes: &mut Notes<'_, '_>,
) {
    let opening = steps.iter().position(|step| {
        !matches!(step.message.role, Role::System | Role::Developer | Role::Unknown)
    });
    let words = match opening.map(|at| steps[at].message.role) {
        Some(Role::Assistant) => notice::EARLIER,
        None if !same_wire => notice::EMPTY,
        None | Some(_) => return,
    };
    let at = opening.unwrap_or(steps.len());
    if let Some(first) = steps.get(at) {
        notes.add(Did::AddedOpening, first);
    }
    steps.insert(at, Step::ours(Message::new(Role::User, vec![Part::note(words)])));
}

/// Gives each result the tool name of the call it answers.
pub(super) fn name_results(steps: &mut [Step<'_>], notes: &mut Notes<'_, '_>) {
    let mut names = BTreeMap::new();
    for step in steps {
        for part in &mut step.message.parts {
            match part {
                Part::Call(call) => {
                    names.insert(call.id.decode().into_owned(), call.name.clone());
                }
                Part::Result(result) => {
                    let name = names.get(&*result.call_id.decode());
                    // A call that was added in place of a missing one has a name of its own.
                    let differs = result.name.is_some()
                        && name.is_some_and(|name| result.name.as_ref() != Some(name));
                    if differs {
                        notes.at(Did::NamedResult, result.node);
                    }
                    result.renamed |= differs;
                    result.name = name.cloned().or_else(|| result.name.take());
                }
                _ => {}
            }
        }
    }
}

/// Leaves out steps that another wire writes nothing of, so that they do not separate neighbors.
pub(super) fn leave_out_silent(
    steps: &mut Vec<Step<'_>>,
    decisions: &mut Vec<Decision>,
    transcript: &Transcript<'_>,
) {
    steps.retain(|step| {
        let message = &step.message;
        let is_silent = |part: &Part<'_>| match part {
            Part::Text(text) | Part::Refusal(text) => text.text.is_empty(),
            Part::Thinking(_) | Part::Mark(_) => true,
            Part::Opaque(_) => message.role != Role::User,
            Part::Media(_)
            | Part::TextWithMedia(_)
            | Part::Nested(_)
            | Part::Call(_)
            | Part::Result(_) => false,
        };
        let silent = message.parts.iter().all(is_silent);
        for part in message.parts.iter().filter(|_| silent) {
            let did = match part {
                Part::Thinking(_) => Did::LeftOutReasoning,
                Part::Opaque(_) | Part::Mark(_) => Did::LeftOutPart(Because::NoWord),
                _ => continue,
            };
            let at = part.node().map(|node| transcript.position_of(node, None));
            decisions.push(Decision { did, at, media: None });
        }
        !silent
    });
}

/// Separates results from other content of a user, by a short assistant message. Some models
/// refuse both in one turn.
pub(super) fn set_results_apart<'a>(
    steps: Vec<Step<'a>>,
    notes: &mut Notes<'_, '_>,
) -> Vec<Step<'a>> {
    let mut apart = Vec::with_capacity(steps.len());
    for mut step in steps {
        let is_result = |part: &Part<'_>| matches!(part, Part::Result(_));
        let mixed =
            step.message.parts.iter().any(is_result) && !step.message.parts.iter().all(is_result);
        if step.message.role != Role::User || !mixed {
            apart.push(step);
            continue;
        }
        let (results, others) =
            std::mem::take(&mut step.message.parts).into_iter().partition(is_result);
        step.message.parts = results;
        step.touched = true;
        notes.add(Did::AddedBridge, &step);
        apart.push(step);
        let bridge = Message::new(Role::Assistant, vec![Part::note(notice::BRIDGE)]);
        apart.push(Step::ours(bridge));
        apart.push(Step::ours(Message::new(Role::User, others)));
    }
    apart
}

/// Joins consecutive messages of one role, for endpoints that require alternation.
pub(super) fn merge_neighbors<'a>(
    steps: Vec<Step<'a>>,
    role: Role,
    notes: &mut Notes<'_, '_>,
) -> Vec<Step<'a>> {
    let mut merged: Vec<Step<'a>> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let is_of_role = |step: &Step<'_>| step.message.role == role;
        if is_of_role(&step)
            && merged.last().is_some_and(is_of_role)
            && let Some(before) = merged.pop()
        {
            notes.add(Did::MergedMessages, &step);
            let mut parts = before.message.parts;
            parts.append(&mut step.message.parts);
            step.message.parts = parts;
            step.message.marked = step.message.marked.or(before.message.marked);
            step.touched = true;
            if step.origin.is_none() {
                step.origin = before.origin;
                step.message.node = before.message.node;
                step.message.slot = before.message.slot;
            }
        }
        merged.push(step);
    }
    merged
}
