//! Members of a body that no reader looked at. When a request is translated, each of them is a
//! decision.
//!
//! A wire's readers take the members that the neutral conversation has a place for. Any other
//! member of a message, part, call or result is found here by name.

use super::decision::{Because, Did};
use super::write::Writer;
use crate::json::{NodeId, Str, Value};
use crate::media::MediaKind;
use crate::plan::Fate;
use crate::survey::Slot;
use crate::transcript::{MediaId, MediaPart, Part, Role};

/// Collects the members that were not read.
#[derive(Default)]
pub(crate) struct Unread<'a> {
    found: Vec<(Str<'a>, NodeId)>,
}

impl<'a> Unread<'a> {
    /// Collects the members of an object that are not in `read`.
    pub(crate) fn object(&mut self, value: Value<'_, 'a>, read: &[&str]) {
        for (key, member) in value.entries() {
            if !member.is_null() && !read.iter().any(|name| key.is(name)) {
                self.found.push((key, member.id()));
            }
        }
    }

    /// Collects the members of an inner object that are not in `read`.
    pub(crate) fn within(&mut self, value: Value<'_, 'a>, member: &str, read: &[&str]) {
        if let Some(inner) = value.get(member) {
            self.object(inner, read);
        }
    }
}

impl<'a> Writer<'_, 'a> {
    /// Notes every member that no reader of the source wire looked at.
    pub(crate) fn note_unread(&mut self) {
        let transcript = self.transcript;
        if transcript.dump.is_none()
            && let Some(root) = transcript.doc.root()
        {
            let mut unread = Unread::default();
            transcript.wire.protocol().unread(root, &mut unread);
            for (name, node) in unread.found {
                self.omit(&name.decode(), Some(node), Because::NoWord);
            }
        }
        for message in &transcript.messages {
            self.note_media(&message.parts);
        }
    }

    /// Notes names and details of media that the wire does not carry.
    fn note_media(&mut self, parts: &[Part<'a>]) {
        for part in parts {
            match part {
                Part::Media(medium) => self.note_medium(*medium),
                Part::Result(result) => self.note_media(&result.content),
                Part::Nested(nested) => self.note_media(&nested.parts),
                Part::Text(_)
                | Part::TextWithMedia(_)
                | Part::Call(_)
                | Part::Thinking(_)
                | Part::Mark(_)
                | Part::Refusal(_)
                | Part::Opaque(_) => {}
            }
        }
    }

    fn note_medium(&mut self, medium: MediaPart) {
        let media = self.media(medium.id);
        let mut is_shown = matches!(self.plan.fates[medium.id], Fate::Keep(_) | Fate::Hoist(_));
        if is_shown && !self.wire().protocol().carries(media.kind, &media.source) {
            self.left_out(Did::LeftOutPart(Because::NoWord), Some(media.node));
            is_shown = false;
        }
        if let Some(detail) = &media.detail {
            let says = is_shown && media.kind == MediaKind::Image && self.rules().detail;
            let sent = self.detail(medium.id).filter(|_| says);
            if !sent.is_some_and(|sent| detail.is(sent.name())) {
                let names = ["detail", "mediaResolution", "media_resolution"];
                let node = self.member(medium.node, &names);
                self.omit("detail", node, Because::NoWord);
            }
        }
        if media.name.is_some() && !(is_shown && self.says_name(medium.id)) {
            let names =
                ["title", "filename", "name", "displayName", "display_name", "document_name"];
            let node = self.member(medium.node, &names);
            self.omit("name", node, Because::NoWord);
        }
    }

    /// Returns `true` if the name of a document is sent. Only a user's own file keeps its name.
    pub(crate) fn says_name(&self, id: MediaId) -> bool {
        let attached = self.plan.survey.sightings[id].slot == Slot::Message(Role::User);
        let media = self.media(id);
        let is_named = || self.wire().protocol().names_document(&media.source);
        attached && media.kind == MediaKind::Document && is_named()
    }
}
