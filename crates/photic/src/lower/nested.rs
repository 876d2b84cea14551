//! Places results inside user messages: all together and first, with other content behind them.

use std::collections::BTreeSet;

use super::decision::Did;
use super::place::{Answer, Placer};
use super::step::Step;
use crate::structure::Segment;
use crate::transcript::{Message, Part, Role};

impl<'a> Placer<'_, 'a> {
    /// Keeps results in the user messages they came in. Added results follow the last of them.
    pub(super) fn nested_in_place(
        &mut self,
        answers: Vec<Answer<'a>>,
        spent: &mut BTreeSet<usize>,
    ) {
        let units: Vec<usize> = {
            let mut units: Vec<usize> = answers.iter().filter_map(|answer| answer.unit).collect();
            units.dedup();
            units
        };
        let mut answers = answers.into_iter().peekable();
        for (index, &unit) in units.iter().enumerate() {
            let mut parts = Vec::new();
            let mut changed = false;
            while let Some(answer) = answers.next_if(|answer| answer.unit == Some(unit)) {
                changed |= answer.changed;
                parts.push(Part::Result(answer.result));
            }
            if index + 1 == units.len() {
                changed |= answers.peek().is_some() || !self.bundle.is_empty();
                parts.extend(answers.by_ref().map(|answer| Part::Result(answer.result)));
                self.finish_nested(Some(unit), parts, changed);
            } else {
                self.push(Some(unit), Role::User, parts, changed);
            }
            spent.insert(unit);
        }
        let rest: Vec<_> = answers.map(|answer| Part::Result(answer.result)).collect();
        if !rest.is_empty() {
            self.finish_nested(None, rest, true);
        }
    }

    /// Puts all results into one user message, the first that held any, before its other content.
    pub(super) fn nested_anew(
        &mut self,
        segment: &Segment,
        answers: Vec<Answer<'a>>,
        spent: &mut BTreeSet<usize>,
    ) {
        let messages = &self.transcript.messages;
        let first = segment.results.first().map(|((unit, _), _)| *unit).filter(|_| self.same_wire);
        if let Some(unit) = first {
            self.note(Did::MovedResultsFirst, messages[unit].node);
            spent.insert(unit);
        }
        let parts = answers.into_iter().map(|answer| Part::Result(answer.result)).collect();
        self.finish_nested(first, parts, true);
    }

    /// Completes a message of results: adds hoisted media, behind a bridge if one is needed, and
    /// the rest of the message.
    pub(super) fn finish_nested(
        &mut self,
        unit: Option<usize>,
        mut parts: Vec<Part<'a>>,
        mut changed: bool,
    ) {
        if self.is_bridged() && !self.bundle.is_empty() {
            self.push(unit, Role::User, parts, true);
            self.flush_bundle();
            let rest = unit.map(|unit| self.rest_of(unit).0).unwrap_or_default();
            if !rest.is_empty() {
                self.steps.push(Step::ours(Message::new(Role::User, rest)));
            }
            return;
        }
        parts.extend(self.bundle.take());
        if let Some(unit) = unit {
            let (rest, rest_changed) = self.rest_of(unit);
            changed |= rest_changed;
            parts.extend(rest);
        }
        self.push(unit, Role::User, parts, changed);
        self.flush_bundle();
    }
}
