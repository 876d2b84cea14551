//! What some endpoints demand of the order of turns, once everything has its place.

use super::place::Step;
use crate::notice;
use crate::transcript::{Message, Part, Role};

/// Puts a short assistant message wherever a user message follows tool results.
pub(super) fn bridge(steps: Vec<Step<'_>>) -> Vec<Step<'_>> {
    let mut bridged: Vec<Step<'_>> = Vec::with_capacity(steps.len());
    for step in steps {
        let after_results = bridged.last().is_some_and(|before| before.message.role == Role::Tool);
        if after_results && step.message.role == Role::User {
            bridged
                .push(Step::ours(Message::new(Role::Assistant, vec![Part::note(notice::BRIDGE)])));
        }
        bridged.push(step);
    }
    bridged
}

/// Opens a conversation that would start with the assistant, or not at all.
pub(super) fn start_with_user(steps: &mut Vec<Step<'_>>, same_wire: bool) {
    let opening = steps.iter().position(|step| {
        !matches!(step.message.role, Role::System | Role::Developer | Role::Unknown)
    });
    let words = match opening.map(|at| steps[at].message.role) {
        Some(Role::Assistant) => notice::EARLIER,
        None if !same_wire => notice::EMPTY,
        None | Some(_) => return,
    };
    let at = opening.unwrap_or(steps.len());
    steps.insert(at, Step::ours(Message::new(Role::User, vec![Part::note(words)])));
}

/// Joins user messages that follow each other, for templates that demand alternation.
pub(super) fn merge_users(steps: Vec<Step<'_>>) -> Vec<Step<'_>> {
    let mut merged: Vec<Step<'_>> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let is_user = |step: &Step<'_>| step.message.role == Role::User;
        if is_user(&step)
            && merged.last().is_some_and(is_user)
            && let Some(before) = merged.pop()
        {
            let mut parts = before.message.parts;
            parts.append(&mut step.message.parts);
            step.message.parts = parts;
            step.message.marked |= before.message.marked;
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
