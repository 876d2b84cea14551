//! Places every unit: builds the transcript as it will be sent, still in neutral form.
//!
//! Every repair of order happens here, once, for all wires. Wires only write.

use std::collections::{BTreeMap, BTreeSet};

use super::bundle::Bundle;
use super::decision::{Decision, Did};
use super::mark;
use super::step::Step;
use super::turns::{
    Notes, bridge, leave_out_silent, merge_neighbors, name_results, set_results_apart,
    start_with_user,
};
use crate::json::{NodeId, Str};
use crate::notice;
use crate::plan::Plan;
use crate::profile::{ConsecutiveUser, MidSystem, Placement};
use crate::structure::{PartIndex, Segment};
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Home, Message, Part, Role, ToolResult, Transcript,
};

/// Places everything for the plan's wire. `renames` has the ids that calls and results get.
pub(crate) fn place<'a>(
    transcript: &Transcript<'a>,
    plan: &Plan<'_>,
    segments: &[Segment],
    renames: BTreeMap<PartIndex, Str<'static>>,
) -> (Vec<Step<'a>>, Vec<Decision>) {
    let target = plan.profile.wire;
    let same_wire = transcript.own_wire() == Some(target);
    let is_system = |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
    let mut placer = Placer {
        transcript,
        plan,
        same_wire,
        nests: target.rules().nests_results,
        renames,
        steps: Vec::with_capacity(transcript.messages.len()),
        decisions: Vec::new(),
        bundle: Bundle::default(),
        beside: 0,
        // Units that hold only settings come before the instructions of some clients.
        opening: transcript
            .messages
            .iter()
            .take_while(|message| is_system(message) || is_silent(message))
            .count(),
    };
    let mut tails = Vec::with_capacity(segments.len());
    for segment in segments {
        placer.head(segment);
        tails.push((segment.tail.start, placer.steps.len()));
        placer.tail(segment);
    }
    placer.flush_bundle();
    let Placer { mut steps, decisions, nests, .. } = placer;
    let mut notes = Notes { transcript, decisions };
    mark::mark(plan, &tails, &mut steps, &mut notes);
    if !nests && plan.profile.placement.image == Placement::AssistantBridge {
        steps = bridge(steps, &mut notes);
    }
    if target.rules().starts_with_user {
        start_with_user(&mut steps, same_wire, &mut notes);
    }
    if target.rules().alternates && !same_wire {
        leave_out_silent(&mut steps, &mut notes.decisions, transcript);
    }
    if plan.profile.quirks.consecutive_user == ConsecutiveUser::Merge {
        steps = merge_neighbors(steps, Role::User, &mut notes);
    }
    if target.rules().alternates {
        steps = merge_neighbors(steps, Role::Assistant, &mut notes);
        if plan.profile.placement.image == Placement::AssistantBridge {
            steps = set_results_apart(steps, &mut notes);
        }
    }
    if target.rules().names_results {
        name_results(&mut steps, &mut notes);
    }
    (steps, notes.decisions)
}

/// Returns `true` for a unit without content, whose settings were read elsewhere.
fn is_silent(message: &Message<'_>) -> bool {
    message.role == Role::Unknown && message.parts.is_empty()
}

pub(super) struct Placer<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) plan: &'t Plan<'t>,
    pub(super) same_wire: bool,
    pub(super) nests: bool,
    pub(super) renames: BTreeMap<PartIndex, Str<'static>>,
    pub(super) decisions: Vec<Decision>,
    /// Media that wait for the next user turn.
    pub(super) bundle: Bundle<'a>,
    /// Number of media of the current result that are beside its text.
    pub(super) beside: usize,
    /// Number of system messages that open the conversation.
    opening: usize,
    pub(super) steps: Vec<Step<'a>>,
}

/// A placed result, and the unit it came from.
pub(super) struct Answer<'a> {
    pub(super) unit: Option<usize>,
    pub(super) result: ToolResult<'a>,
    pub(super) changed: bool,
}

impl<'a> Placer<'_, 'a> {
    /// Places the units that follow the assistant's.
    fn tail(&mut self, segment: &Segment) {
        if self.same_wire && self.transcript.wire.rules().flat {
            self.flat_tail(segment);
            return;
        }
        // Units whose content was placed as part of another one.
        let mut spent = BTreeSet::new();
        if !segment.results.is_empty() || !segment.missing.is_empty() {
            self.answers(segment, &mut spent);
        }
        for &place in &segment.orphans {
            self.orphan(place);
        }
        self.others(segment, &spent);
    }

    /// Places the assistant's own units.
    fn head(&mut self, segment: &Segment) {
        let before = self.steps.len();
        for unit in segment.head.clone() {
            self.push_unit(unit);
        }
        // Units that count as one turn on their own wire become one on another.
        if !self.same_wire && self.steps.len() > before + 1 {
            let parts = self.steps.drain(before..).flat_map(|step| step.message.parts).collect();
            self.steps.push(Step::ours(Message::new(Role::Assistant, parts)));
        }
        // Media that an assistant showed wait until its calls are answered.
        if segment.results.is_empty() && segment.missing.is_empty() {
            self.flush_bundle();
        }
    }

    /// Places the results of a turn, all together, and the media hoisted out of them.
    fn answers(&mut self, segment: &Segment, spent: &mut BTreeSet<usize>) {
        let messages = &self.transcript.messages;
        let mut answers = Vec::new();
        for (ordinal, &(place, _)) in segment.results.iter().enumerate() {
            if let Part::Result(result) = &messages[place.0].parts[place.1] {
                let (result, changed) = self.result(place, result, ordinal + 1);
                answers.push(Answer { unit: Some(place.0), result, changed });
            }
        }
        for &(unit, part) in &segment.missing {
            if let Part::Call(call) = &messages[unit].parts[part] {
                self.note(Did::FilledMissing, call.node);
                let result = self.stand_in_result((unit, part), call);
                answers.push(Answer { unit: None, result, changed: true });
            }
        }
        if self.nests {
            if self.same_wire && segment.first_late(messages).is_none() {
                self.nested_in_place(answers, spent);
            } else {
                self.nested_anew(segment, answers, spent);
            }
        } else {
            for unit in segment.interleaved(messages) {
                self.note(Did::MovedBehindResults, messages[unit].node);
            }
            for answer in answers {
                let alone = |unit: &usize| self.same_wire && messages[*unit].parts.len() == 1;
                self.push_answer(answer.unit.filter(alone), answer.result, answer.changed);
            }
            self.flush_bundle();
        }
    }

    /// Adds one result in a unit of its own.
    fn push_answer(&mut self, origin: Option<usize>, result: ToolResult<'a>, changed: bool) {
        self.push(origin, Role::Tool, vec![Part::Result(result)], changed);
    }

    pub(super) fn push(
        &mut self,
        origin: Option<usize>,
        role: Role,
        parts: Vec<Part<'a>>,
        changed: bool,
    ) {
        let template = origin.map(|unit| &self.transcript.messages[unit]);
        // A part that was moved elsewhere is a change, too.
        let changed = changed || template.is_none_or(|message| message.parts.len() != parts.len());
        let message = Message {
            node: template.and_then(|message| message.node),
            slot: template.and_then(|message| message.slot),
            ..Message::new(role, parts)
        };
        self.steps.push(Step { origin, touched: changed, message });
    }

    pub(super) fn is_bridged(&self) -> bool {
        self.plan.profile.placement.image == Placement::AssistantBridge
    }

    /// Adds a call for a result that answers none.
    fn orphan(&mut self, place: PartIndex) {
        let message = &self.transcript.messages[place.0];
        let Part::Result(orphan) = &message.parts[place.1] else { return };
        if self.same_wire && orphan.kind == CallKind::Screen {
            // No other call can replace one that took a screenshot.
            self.push_unit(place.0);
            return;
        }
        self.note(Did::AddedStandInCall, orphan.node);
        let (result, changed) = self.result(place, orphan, 1);
        let call = Call {
            id: result.call_id.clone(),
            name: Str::plain(notice::UNKNOWN_TOOL),
            namespace: None,
            arguments: Arguments::Json(b"{}"),
            kind: orphan.kind,
            renamed: false,
            node: None,
        };
        let opened =
            self.steps.iter().any(|step| matches!(step.message.role, Role::User | Role::Assistant));
        if self.nests && !opened {
            self.steps
                .push(Step::ours(Message::new(Role::User, vec![Part::note(notice::EARLIER)])));
        }
        self.steps.push(Step::ours(Message::new(Role::Assistant, vec![Part::Call(call)])));
        if self.nests {
            self.finish_nested(None, vec![Part::Result(result)], true);
        } else {
            let alone = self.same_wire && message.parts.len() == 1;
            self.push_answer(alone.then_some(place.0), result, changed);
            self.flush_bundle();
        }
    }

    /// Places the units of the tail that are not results.
    fn others(&mut self, segment: &Segment, spent: &BTreeSet<usize>) {
        let messages = &self.transcript.messages;
        for unit in segment.tail.clone() {
            let message = &messages[unit];
            if message.results().next().is_none() {
                self.push_unit(unit);
            } else if !spent.contains(&unit) {
                let (rest, _) = self.rest_of(unit);
                if !rest.is_empty() {
                    self.push(None, Role::User, rest, true);
                }
            }
            // Several system messages in a row stay together.
            let is_system =
                |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
            if !(is_system(message) && messages.get(unit + 1).is_some_and(is_system)) {
                self.flush_bundle();
            }
        }
    }

    /// Places a tail on a flat wire. Order is free there, so every unit stays in its position.
    fn flat_tail(&mut self, segment: &Segment) {
        let messages = &self.transcript.messages;
        let last_result = segment.results.iter().map(|((unit, _), _)| *unit).max();
        let answered_here = last_result.is_some_and(|last| segment.tail.contains(&last));
        if !answered_here {
            self.fill_missing(segment);
        }
        let mut ordinal = 0;
        for unit in segment.tail.clone() {
            let message = &messages[unit];
            if segment.orphans.binary_search(&(unit, 0)).is_ok() {
                self.orphan((unit, 0));
            } else if let Some(result) = message.results().next() {
                ordinal += 1;
                let (result, changed) = self.result((unit, 0), result, ordinal);
                self.push_answer(Some(unit), result, changed);
            } else {
                self.push_unit(unit);
                // Media that a system or developer item showed follow it at once.
                if matches!(message.role, Role::System | Role::Developer) {
                    self.flush_bundle();
                }
            }
            if last_result == Some(unit) {
                self.fill_missing(segment);
            }
            let run_goes_on = messages.get(unit + 1).is_some_and(|next| next.role == Role::Tool);
            if message.role == Role::Tool && !run_goes_on {
                self.flush_bundle();
                ordinal = 0;
            }
        }
    }

    fn fill_missing(&mut self, segment: &Segment) {
        for &(unit, part) in &segment.missing {
            if let Part::Call(call) = &self.transcript.messages[unit].parts[part] {
                self.note(Did::FilledMissing, call.node);
                let result = self.stand_in_result((unit, part), call);
                self.push_answer(None, result, true);
            }
        }
        self.flush_bundle();
    }

    /// Creates a result for a call that has none.
    fn stand_in_result(&self, place: PartIndex, call: &Call<'a>) -> ToolResult<'a> {
        ToolResult {
            call_id: self.renames.get(&place).cloned().unwrap_or_else(|| call.id.clone()),
            name: Some(call.name.clone()),
            is_error: true,
            content: vec![Part::note(notice::NO_RESULT)],
            kind: call.kind,
            bounds: Bounds::default(),
            content_changed: true,
            renamed: false,
            node: None,
            slot: None,
        }
    }

    /// Places a unit and its media. Adds nothing if the unit became empty and may be left out.
    fn push_unit(&mut self, unit: usize) {
        if !self.same_wire && is_silent(&self.transcript.messages[unit]) {
            return;
        }
        let step = self.unit(unit);
        let said = !self.transcript.messages[unit].parts.is_empty();
        let is_instruction = matches!(step.message.role, Role::System | Role::Developer);
        let silent = is_instruction && said && step.message.parts.is_empty();
        if !silent || step.message.home == Home::Field {
            self.steps.push(step);
        }
    }

    fn unit(&mut self, unit: usize) -> Step<'a> {
        let original = &self.transcript.messages[unit];
        let (mut parts, mut changed) = self.parts(unit, |_| true);
        let demands_words = self.plan.profile.wire.rules().rejects_empty_text
            && matches!(original.role, Role::User | Role::Assistant);
        if parts.is_empty() && !original.parts.is_empty() && demands_words {
            parts.push(Part::note(notice::EMPTY));
            changed = true;
        }
        let mut message = Message {
            node: original.node,
            slot: original.slot,
            home: original.home,
            ..Message::new(original.role, parts)
        };
        if !self.same_wire && self.becomes_user(unit, message.role) {
            message.role = Role::User;
            message.parts.insert(0, Part::note(notice::SYSTEM));
        }
        Step { origin: self.same_wire.then_some(unit), touched: changed, message }
    }

    /// Returns `true` for a system message in mid-conversation, on a wire that has none there.
    fn becomes_user(&self, unit: usize, role: Role) -> bool {
        let is_system = |role: Role| matches!(role, Role::System | Role::Developer);
        is_system(role)
            && self.plan.profile.quirks.mid_system == MidSystem::User
            && unit >= self.opening
    }

    /// Returns the parts of a unit that are not results.
    pub(super) fn rest_of(&mut self, unit: usize) -> (Vec<Part<'a>>, bool) {
        self.parts(unit, |part| !matches!(part, Part::Result(_)))
    }

    /// Puts the waiting media into a user message of their own.
    pub(super) fn flush_bundle(&mut self) {
        if self.bundle.is_empty() {
            return;
        }
        let after_results =
            self.steps.last().is_some_and(|step| step.message.results().next().is_some());
        // On wires with results in messages of their own, bridges are added at the end.
        if after_results && self.nests && self.is_bridged() {
            self.steps
                .push(Step::ours(Message::new(Role::Assistant, vec![Part::note(notice::BRIDGE)])));
        }
        let parts = self.bundle.take();
        self.steps.push(Step::ours(Message::new(Role::User, parts)));
    }

    pub(super) fn note(&mut self, did: Did, node: Option<NodeId>) {
        let at = node.map(|node| self.transcript.position_of(node, None));
        self.decisions.push(Decision { did, at, media: None });
    }
}
