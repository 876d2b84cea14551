//! Places every part: media stay, move to the next user turn, or are replaced by a notice.

use super::decision::{Decision, Did};
use super::place::Placer;
use crate::json::{Kind, Str};
use crate::media::{Found, Source};
use crate::notice::{self, Owner};
use crate::plan::{Fate, Reason};
use crate::profile::{ErrorResults, ToolContent};
use crate::rescue;
use crate::server_side::CLEARED;
use crate::structure::{PartIndex, is_empty};
use crate::transcript::{
    CallKind, MediaId, MediaPart, Nested, Part, Role, Text, TextWithMedia, ToolResult,
};

/// The longest source of a drawing that is written as text, in bytes.
const LONGEST_DRAWING: usize = 16 * 1024;

impl<'a> Placer<'_, 'a> {
    /// Places the wanted parts of a unit. Returns them, and `true` if any of them changed.
    pub(super) fn parts(
        &mut self,
        unit: usize,
        wanted: impl Fn(&Part<'a>) -> bool,
    ) -> (Vec<Part<'a>>, bool) {
        let message = &self.transcript.messages[unit];
        let owner = match message.role {
            Role::Assistant => Owner::Assistant,
            Role::System | Role::Developer | Role::User | Role::Tool | Role::Unknown => {
                Owner::System
            }
        };
        let mut placed = Vec::with_capacity(message.parts.len());
        let mut changed = false;
        for (index, part) in message.parts.iter().enumerate().filter(|(_, part)| wanted(part)) {
            match (part, self.renames.get(&(unit, index))) {
                (Part::Call(call), Some(id)) => {
                    let mut call = call.clone();
                    call.id = id.clone();
                    call.renamed = true;
                    self.note(Did::RenamedCall, call.node);
                    placed.push(Part::Call(call));
                    // On other wires, calls are beside the content.
                    changed |= self.nests;
                }
                _ => changed |= self.part(part, owner, &mut placed),
            }
        }
        (placed, changed)
    }

    /// Places a result and its media. Returns it, and `true` if it changed.
    pub(super) fn result(
        &mut self,
        place: PartIndex,
        result: &ToolResult<'a>,
        ordinal: usize,
    ) -> (ToolResult<'a>, bool) {
        let mut content = Vec::with_capacity(result.content.len());
        let mut changed = false;
        self.beside = 0;
        if self.plan.cleared.contains(&place) {
            self.note(Did::ClearedResult, result.slot.or(result.node));
            content.push(Part::note(CLEARED));
            changed = true;
        } else {
            for part in &result.content {
                changed |= self.part(part, Owner::Result(ordinal), &mut content);
            }
        }
        let wire = self.plan.profile.wire;
        // A blank string counts as an answer; a blank block does not.
        if wire.rules().rejects_empty_text && (content.len() > 1 || wire.rules().lists_results) {
            let before = content.len();
            content.retain(|part| !matches!(part, Part::Text(text) if text.is_blank()));
            if content.len() < before {
                self.note(Did::LeftOutEmptyText, result.slot);
                changed = true;
            }
        }
        let text_only = self.plan.profile.placement.error_results == ErrorResults::TextOnly;
        if result.is_error && self.nests && text_only {
            for part in &mut content {
                if matches!(part, Part::Opaque(_) | Part::Nested(_)) {
                    self.note(Did::LeftOutOfError, part.node());
                    *part = Part::note(notice::NOT_CARRIED);
                    changed = true;
                }
            }
        }
        if self.is_list_for_a_string(result) {
            self.note(Did::WroteString, result.slot);
            changed = true;
        }
        // On wires with nested results, a successful one may be empty.
        let may_be_empty = self.same_wire && self.nests && !result.is_error && !changed;
        // A slot for a screenshot holds no text.
        let may_be_empty = may_be_empty || (self.same_wire && result.kind == CallKind::Screen);
        if is_empty(&content) && !may_be_empty {
            self.note(Did::FilledEmpty, result.slot.or(result.node));
            content = vec![Part::note(notice::NO_OUTPUT)];
            changed = true;
        }
        let renamed = self.renames.get(&place);
        let result = ToolResult {
            call_id: renamed.cloned().unwrap_or_else(|| result.call_id.clone()),
            content,
            content_changed: changed,
            renamed: renamed.is_some(),
            ..result.clone()
        };
        let changed = changed || (self.nests && result.renamed);
        (result, changed)
    }

    /// Returns `true` if a result came as a list but the endpoint takes only a string.
    fn is_list_for_a_string(&self, result: &ToolResult<'a>) -> bool {
        let is_list = |slot| self.transcript.doc.value(slot).kind() == Kind::Array;
        self.same_wire
            && self.plan.profile.quirks.tool_content == ToolContent::String
            && result.slot.is_some_and(is_list)
    }

    /// Places one part. Returns `true` if anything about it changed.
    fn part(&mut self, part: &Part<'a>, owner: Owner, placed: &mut Vec<Part<'a>>) -> bool {
        match part {
            Part::Media(medium) => self.medium(*medium, owner, placed),
            Part::TextWithMedia(text) => {
                self.text_with_media(text, owner, placed);
                true
            }
            Part::Nested(nested) => {
                let mut inner = Vec::new();
                let mut beside = Vec::new();
                let mut changed = false;
                for part in &nested.parts {
                    changed |= self.part(part, owner, &mut inner);
                    if nested.words_only && self.same_wire {
                        changed |= self.move_beside(part, &mut inner, &mut beside);
                    }
                }
                if self.same_wire {
                    placed.push(Part::Nested(Nested { parts: inner, changed, ..nested.clone() }));
                    placed.append(&mut beside);
                } else {
                    placed.append(&mut inner);
                }
                changed
            }
            // An empty string as the content of a result is handled together with the result.
            Part::Text(text)
                if self.plan.profile.wire.rules().rejects_empty_text
                    && text.is_blank()
                    && (text.node.is_some() || !matches!(owner, Owner::Result(_))) =>
            {
                self.note(Did::LeftOutEmptyText, text.node);
                true
            }
            Part::Text(_)
            | Part::Call(_)
            | Part::Result(_)
            | Part::Thinking(_)
            | Part::Mark(_)
            | Part::Refusal(_)
            | Part::Opaque(_) => {
                placed.push(part.clone());
                false
            }
        }
    }

    /// Takes the media that were placed last out of a part that holds only texts, and puts them
    /// beside it. Returns `true` if there were any.
    fn move_beside(
        &mut self,
        part: &Part<'a>,
        inner: &mut Vec<Part<'a>>,
        beside: &mut Vec<Part<'a>>,
    ) -> bool {
        let is_media = |part: &Part<'a>| matches!(part, Part::Media(_));
        let from = inner.iter().rposition(|part| !is_media(part)).map_or(0, |last| last + 1);
        let moved: Vec<Part<'a>> = inner.drain(from..).collect();
        for part_moved in &moved {
            let Part::Media(medium) = part_moved else { continue };
            // The text around a medium already says where it is.
            if !matches!(part, Part::TextWithMedia(_)) {
                self.beside += 1;
                let kind = self.transcript.media[medium.id].kind;
                inner.push(Part::note(notice::beside(kind, self.beside)));
                self.decide(Did::Rewrote, medium.id);
            }
            beside.push(Part::Media(MediaPart { id: medium.id, node: None }));
        }
        !moved.is_empty()
    }

    fn medium(&mut self, medium: MediaPart, owner: Owner, placed: &mut Vec<Part<'a>>) -> bool {
        let id = medium.id;
        if let Source::Text(text) = &self.transcript.media[id].source
            && !self.same_wire
            && !self.plan.profile.wire.rules().text_documents
        {
            // The text of a document is text, and stays in the message of its author.
            placed.push(Part::Text(Text { text: text.clone(), node: None }));
            return true;
        }
        if !matches!(self.plan.fates[id], Fate::Keep(_)) {
            let marker = self.marker(id, owner);
            placed.push(Part::note(marker));
            return true;
        }
        placed.push(Part::Media(medium));
        let rewritten = self.plan.rewrites(id);
        if self.plan.recipes.contains_key(&id) {
            self.decide(Did::Remade, id);
        } else if self.transcript.media[id].found == Found::Fetched {
            self.decide(Did::Fetched, id);
        } else if rewritten {
            self.decide(Did::Rewrote, id);
        }
        rewritten
    }

    fn text_with_media(
        &mut self,
        text: &TextWithMedia<'a>,
        owner: Owner,
        placed: &mut Vec<Part<'a>>,
    ) {
        let mut words =
            text.pieces.first().map(|first| first.decode().into_owned()).unwrap_or_default();
        let mut kept = Vec::new();
        for (&id, after) in text.media.iter().zip(text.pieces.iter().skip(1)) {
            let marker = if matches!(self.plan.fates[id], Fate::Keep(_)) {
                kept.push(Part::Media(MediaPart { id, node: None }));
                self.decide(Did::Rewrote, id);
                self.beside += 1;
                notice::beside(self.transcript.media[id].kind, self.beside)
            } else {
                self.marker(id, owner)
            };
            words.push_str(&marker);
            words.push_str(&after.decode());
        }
        placed.push(Part::note(words));
        placed.append(&mut kept);
    }

    /// Returns the text that replaces a medium, and moves the medium elsewhere if it is still
    /// sent.
    fn marker(&mut self, id: MediaId, owner: Owner) -> String {
        let kind = self.transcript.media[id].kind;
        let is_refused = self.plan.fates[id] == Fate::Refuse(Reason::TypeNotAccepted);
        if let Some(source) = self.drawing(id).filter(|_| is_refused) {
            self.decide(Did::WroteSource, id);
            return notice::drawing(&source);
        }
        match self.plan.fates[id] {
            Fate::Keep(_) | Fate::Hoist(_) => {
                self.decide(Did::Hoisted, id);
                let ordinal = self.bundle.add(kind, id, owner);
                if self.nests && matches!(owner, Owner::Result(_)) && !self.is_bridged() {
                    notice::moved_below(kind, ordinal)
                } else {
                    notice::moved(kind, ordinal)
                }
            }
            Fate::Elide(reason) | Fate::Refuse(reason) => {
                self.decide(Did::NotShown(reason), id);
                match self.plan.cell(id) {
                    Some(cell) => notice::on_sheet(cell),
                    None => notice::not_shown(&self.plan.survey.sightings[id], reason),
                }
            }
        }
    }

    /// Returns the source of a drawing, if it is short and holds no picture of its own.
    fn drawing(&self, id: MediaId) -> Option<String> {
        let is_drawing = self.plan.survey.sightings[id].header.media_type == Some("image/svg+xml");
        let Source::Data(payload) = &self.transcript.media[id].source else { return None };
        if !is_drawing || payload.decoded_len() > LONGEST_DRAWING {
            return None;
        }
        let source = Str::plain(String::from_utf8(payload.decode()).ok()?);
        (!rescue::may_hold_picture(&source)).then(|| source.decode().into_owned())
    }

    fn decide(&mut self, did: Did, id: MediaId) {
        let media = &self.transcript.media[id];
        let at = self.transcript.position_of(media.node, media.inner.as_deref());
        self.decisions.push(Decision { did, at: Some(at), media: Some(id) });
    }
}
