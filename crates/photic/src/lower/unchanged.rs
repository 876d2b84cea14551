//! Recognizes conversations that their own wire takes as they came, so that nothing is placed.
//!
//! It says yes only if no repair of [`super::place`] has anything to do, and no if in doubt. With
//! debug assertions every yes is compared with what placing comes to.

use crate::json::Kind;
use crate::plan::Plan;
use crate::profile::{ConsecutiveUser, ErrorResults, Placement, ToolContent};
use crate::structure::{Segment, is_empty};
use crate::transcript::{CallKind, Home, Message, Part, Role, ToolResult, Transcript};
use crate::wire::MessageRules;

/// Returns `true` if a request to its own wire is sent as it came. No id may need another name.
pub(super) fn is_unchanged(
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    segments: &[Segment],
) -> bool {
    let rules = plan.profile.wire.rules();
    let check = Check { transcript, plan, rules };
    transcript.media.is_empty()
        && plan.cleared.is_empty()
        && plan.marks.is_none()
        && plan.profile.placement.image != Placement::AssistantBridge
        && segments.iter().all(|segment| check.results_stay(segment))
        && check.turns_stay()
        && transcript.messages.iter().all(|message| check.parts_stay(message))
}

struct Check<'t, 'a> {
    transcript: &'t Transcript<'a>,
    plan: &'t Plan<'t>,
    rules: &'static MessageRules,
}

impl Check<'_, '_> {
    /// Returns `true` if every call has its result, and every result its place.
    fn results_stay(&self, segment: &Segment) -> bool {
        if !(segment.missing.is_empty() && segment.orphans.is_empty()) {
            return false;
        }
        let messages = &self.transcript.messages;
        let mut results = segment.results.iter().map(|(place, _)| *place);
        let mut is_behind = false;
        for unit in segment.tail.clone() {
            let message = &messages[unit];
            let mut others = 0;
            for (index, part) in message.parts.iter().enumerate() {
                if !matches!(part, Part::Result(_)) {
                    others += 1;
                    continue;
                }
                // A result in its own place, before other content. Order is free on a flat wire,
                // where a result may also answer a call of an earlier turn.
                let is_next =
                    self.rules.flat || (results.next() == Some((unit, index)) && !is_behind);
                let is_first = index == 0 || (self.rules.nests_results && others == 0);
                if !is_next || !is_first {
                    return false;
                }
            }
            let has_results = others < message.parts.len();
            let holder = if self.rules.nests_results { Role::User } else { Role::Tool };
            if has_results
                && (message.role != holder
                    || message.home != Home::List
                    || (others > 0 && !self.rules.nests_results))
            {
                return false;
            }
            is_behind |= !has_results || others > 0;
        }
        self.rules.flat || results.next().is_none()
    }

    /// Returns `true` if the endpoint takes the order of the turns.
    fn turns_stay(&self) -> bool {
        let messages = &self.transcript.messages;
        let is_opening = |message: &&Message<'_>| {
            !matches!(message.role, Role::System | Role::Developer | Role::Unknown)
        };
        let opens = || messages.iter().find(is_opening).map(|message| message.role);
        let neighbors =
            |role: Role| messages.windows(2).any(|pair| pair.iter().all(|one| one.role == role));
        let merges_users = self.plan.profile.quirks.consecutive_user == ConsecutiveUser::Merge;
        let has_results = || messages.iter().any(|message| message.results().next().is_some());
        let is_out_of_order = (self.rules.starts_with_user && opens() == Some(Role::Assistant))
            || (merges_users && neighbors(Role::User))
            || (self.rules.alternates && neighbors(Role::Assistant))
            || (self.rules.names_results && has_results());
        !is_out_of_order
    }

    /// Returns `true` if no part of a message is replaced or left out.
    fn parts_stay(&self, message: &Message<'_>) -> bool {
        message.parts.iter().all(|part| match part {
            Part::Result(result) => self.result_stays(result),
            part => self.part_stays(part),
        })
    }

    fn part_stays(&self, part: &Part<'_>) -> bool {
        match part {
            Part::Text(text) => !(self.rules.rejects_empty_text && text.is_blank()),
            Part::Nested(nested) => nested.parts.iter().all(|part| self.part_stays(part)),
            Part::Call(_)
            | Part::Thinking(_)
            | Part::Mark(_)
            | Part::Refusal(_)
            | Part::Opaque(_) => true,
            Part::Media(_) | Part::TextWithMedia(_) | Part::Result(_) => false,
        }
    }

    fn result_stays(&self, result: &ToolResult<'_>) -> bool {
        let profile = self.plan.profile;
        let is_single = result.content.len() == 1 && !self.rules.lists_results;
        let stays = |part: &Part<'_>| match part {
            // A blank string counts as an answer; a blank block does not.
            Part::Text(text) if text.node.is_none() && is_single => true,
            Part::Opaque(_) | Part::Nested(_) if result.is_error => {
                profile.placement.error_results != ErrorResults::TextOnly && self.part_stays(part)
            }
            part => self.part_stays(part),
        };
        let is_list = |slot| self.transcript.doc.value(slot).kind() == Kind::Array;
        let demands_string = profile.quirks.tool_content == ToolContent::String;
        let may_be_empty =
            (self.rules.nests_results && !result.is_error) || result.kind == CallKind::Screen;
        result.content.iter().all(stays)
            && !(demands_string && result.slot.is_some_and(is_list))
            && (may_be_empty || !is_empty(&result.content))
    }
}
