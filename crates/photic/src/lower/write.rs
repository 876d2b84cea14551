//! The writer that all wires share: it writes media and texts.

use std::borrow::Cow;

use super::decision::{Because, Decision, Did};
use super::names::SentNames;
use crate::json::{Kind, NodeId, Out, Str};
use crate::media::{Found, Media, MediaKind, Source, is_type_with_parameters};
use crate::notice;
use crate::plan::{Made, Plan, Prepared};
use crate::profile::{Detail, DocumentPart, ToolContent};
use crate::survey::{Sighting, Slot};
use crate::transcript::{MediaId, MediaPart, Message, Part, Role, ToolResult, Transcript};
use crate::wire::{MessageRules, Wire};

/// The context of writing one body.
pub(crate) struct Writer<'t, 'a> {
    pub(crate) transcript: &'t Transcript<'a>,
    pub(crate) plan: &'t Plan<'t>,
    /// Pictures that are sent instead of the originals.
    prepared: &'a Prepared,
    pub(crate) decisions: Vec<Decision>,
    /// The names by which the endpoint knows the tools of the request.
    pub(crate) names: SentNames,
    /// `true` if calls have the form that the client declared their tools in.
    pub(crate) restores_calls: bool,
}

impl<'t, 'a> Writer<'t, 'a> {
    pub(crate) const fn new(
        transcript: &'t Transcript<'a>,
        plan: &'t Plan<'t>,
        prepared: &'a Prepared,
    ) -> Self {
        let names = SentNames::unchanged();
        Self { transcript, plan, prepared, decisions: Vec::new(), names, restores_calls: false }
    }

    /// Returns the picture that is sent instead of a medium, if the plan has a recipe for it.
    fn made(&self, id: MediaId) -> Option<&'a Made> {
        self.prepared.get(&id).filter(|_| self.plan.recipes.contains_key(&id))
    }

    /// Returns the base64 that is sent for a medium whose bytes are available.
    pub(crate) fn payload(&self, id: MediaId) -> Option<Cow<'a, [u8]>> {
        match (self.made(id), &self.media(id).source) {
            (Some(made), _) => Some(Cow::Borrowed(made.base64.as_bytes())),
            (None, Source::Data(payload)) => Some(payload.bytes()),
            (None, Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing) => None,
        }
    }

    pub(crate) const fn wire(&self) -> Wire {
        self.plan.profile.wire
    }

    /// Returns the rules of the wire's messages.
    pub(crate) fn rules(&self) -> &'static MessageRules {
        self.wire().rules()
    }

    /// Writes the content of a message.
    pub(crate) fn content(&self, out: &mut Out<'a>, message: &Message<'a>) {
        self.wire().protocol().content(self, out, message);
    }

    pub(crate) fn same_wire(&self) -> bool {
        self.transcript.own_wire() == Some(self.wire())
    }

    pub(crate) fn media(&self, id: MediaId) -> &'t Media<'a> {
        &self.transcript.media[id]
    }

    fn sighting(&self, id: MediaId) -> &'t Sighting {
        &self.plan.survey.sightings[id]
    }

    /// Returns the part as it came, if it may be sent unchanged.
    pub(crate) fn verbatim(&self, part: &Part<'a>) -> Option<&'a [u8]> {
        let node = match part {
            Part::Media(medium) if self.plan.rewrites(medium.id) => None,
            Part::Nested(nested) if nested.changed => None,
            Part::Call(call) if call.renamed => None,
            Part::Result(result) if result.content_changed || result.renamed => None,
            other => other.node(),
        };
        node.filter(|_| self.same_wire()).map(|node| self.transcript.raw(node))
    }

    /// Returns the type to label a medium with: the sniffed one, else the declared one.
    pub(crate) fn media_type(&self, id: MediaId) -> String {
        if let Some(made) = self.made(id) {
            return made.media_type.clone();
        }
        let sighting = self.sighting(id);
        match (sighting.header.media_type, &sighting.declared) {
            (Some(sniffed), _) => sniffed.to_owned(),
            // The parameters of a sound are needed to decode it.
            (None, Some(declared)) if self.media(id).kind != MediaKind::Image => {
                let label = self.media(id).declared.as_ref().map(Str::decode);
                let label = label.filter(|label| is_type_with_parameters(label));
                label.map_or_else(|| declared.clone(), Cow::into_owned)
            }
            (None, Some(declared)) => crate::media::proper_name(declared).to_owned(),
            (None, None) => "application/octet-stream".to_owned(),
        }
    }

    /// Returns the detail to state for a picture.
    pub(crate) fn detail(&self, id: MediaId) -> Option<Detail> {
        self.sighting(id).detail
    }

    /// Writes the address of a medium as a JSON string: a data URL, or its URL.
    pub(crate) fn address(&self, out: &mut Out<'a>, id: MediaId) {
        if let Some(payload) = self.payload(id) {
            out.json("\"data:")
                .escaped(self.media_type(id).as_bytes())
                .json(";base64,")
                .bytes(payload)
                .json("\"");
            return;
        }
        match &self.media(id).source {
            Source::Url(text) | Source::File(text) | Source::Text(text) => {
                out.string(text);
            }
            // A plan refuses media without a source.
            Source::Data(_) | Source::Missing => {
                out.json("\"\"");
            }
        }
    }

    /// Returns the name of the field that holds the content of a unit.
    pub(crate) fn content_key(&self, message: &Message<'a>) -> &'static str {
        let (of_message, of_result) = self.rules().content_members;
        if message.role == Role::Tool { of_result } else { of_message }
    }

    /// Returns a name for a document. Only a user's own file keeps its name: a tool's is remote
    /// text.
    pub(crate) fn file_name(&self, id: MediaId) -> Str<'a> {
        let attached = self.sighting(id).slot == Slot::Message(Role::User);
        let extension = match &*self.media_type(id) {
            "application/pdf" => "pdf",
            "text/plain" => "txt",
            "text/csv" => "csv",
            "text/html" => "html",
            _ => "bin",
        };
        self.media(id)
            .name
            .clone()
            .filter(|_| attached)
            .unwrap_or_else(|| Str::plain(format!("document.{extension}")))
    }

    /// Returns `true` if documents are written in the short spelling.
    pub(crate) fn writes_short_documents(&self) -> bool {
        self.plan.profile.quirks.document_part == DocumentPart::DocumentUrl
    }

    /// Returns the name of a sound's format.
    pub(crate) fn audio_format(&self, id: MediaId) -> String {
        match &*self.media_type(id) {
            "audio/mpeg" => "mp3".to_owned(),
            "audio/x-wav" | "audio/wave" => "wav".to_owned(),
            other => {
                let name = other.split(';').next().unwrap_or(other).trim();
                name.strip_prefix("audio/").unwrap_or(name).to_owned()
            }
        }
    }

    /// Writes an object as it came, with the values of some members replaced. A path names a
    /// member of a member. A missing member is added in front.
    pub(crate) fn patched(
        &self,
        out: &mut Out<'a>,
        object: NodeId,
        changes: Vec<(&[&str], Out<'a>)>,
    ) {
        let value = self.transcript.doc.value(object);
        let (body, span) = (self.transcript.body, value.span());
        let mut replaced = Vec::new();
        let mut added = Vec::new();
        for (path, with) in changes {
            match path.iter().try_fold(value, |value, name| value.get(name)) {
                Some(old) => replaced.push((old.span(), with)),
                None => added.push((path, with)),
            }
        }
        replaced.sort_by_key(|(span, _)| span.start);
        let mut at = span.start;
        if !added.is_empty() {
            out.json("{");
            for (path, with) in added {
                out.comma().key(path.last().copied().unwrap_or_default()).fragment(with.finish());
            }
            out.json(if value.entries().next().is_none() { "" } else { "," });
            at += 1;
        }
        for (span, with) in replaced {
            out.raw(&body[at..span.start]).fragment(with.finish());
            at = span.end;
        }
        out.raw(&body[at..span.end]);
    }

    /// Works like [`Self::patched`], for members of one member of the object.
    pub(crate) fn patched_within(
        &self,
        out: &mut Out<'a>,
        object: NodeId,
        member: &str,
        changes: Vec<(&str, Out<'a>)>,
    ) {
        let mut inner = Out::new();
        if let Some(value) = self.transcript.doc.value(object).get(member) {
            let paths: Vec<[&str; 1]> = changes.iter().map(|(name, _)| [*name]).collect();
            let changes = paths.iter().zip(changes).map(|(path, (_, with))| (&path[..], with));
            self.patched(&mut inner, value.id(), changes.collect());
        }
        self.patched(out, object, vec![(&[member], inner)]);
    }

    /// Writes a medium that stays in its part but changes, and keeps the part's other members.
    /// `member` is the path of its bytes. Returns `false` if there is no such part.
    pub(crate) fn in_place(
        &self,
        out: &mut Out<'a>,
        medium: MediaPart,
        member: &[&str],
        write: impl FnOnce(&mut Out<'a>),
    ) -> bool {
        let Some(node) = medium
            .node
            .filter(|_| self.same_wire() && self.media(medium.id).found != Found::Misfiled)
        else {
            return false;
        };
        let mut bytes = Out::new();
        write(&mut bytes);
        out.comma();
        self.patched(out, node, vec![(member, bytes)]);
        true
    }

    /// Returns `true` if the content of a result must be a list: it holds media, or it came as a
    /// list and the endpoint takes lists.
    pub(crate) fn wants_list(&self, result: &ToolResult<'a>) -> bool {
        wants_list(self.transcript, self.plan, result)
    }

    pub(crate) fn left_out(&mut self, did: Did, node: Option<NodeId>) {
        let at = node.map(|node| self.transcript.position_of(node, None));
        self.decisions.push(Decision { did, at, media: None });
    }

    /// Notes the parts that a unit loses on another wire.
    pub(crate) fn note_losses(&mut self, parts: &[Part<'a>]) {
        for part in parts {
            match part {
                Part::Thinking(opaque) => self.left_out(Did::LeftOutReasoning, opaque.node),
                Part::Opaque(opaque) | Part::Mark(opaque) => {
                    self.left_out(Did::LeftOutPart(Because::NoWord), opaque.node);
                }
                Part::Result(result) => self.note_losses(&result.content),
                Part::Nested(nested) => self.note_losses(&nested.parts),
                Part::Text(_)
                | Part::Media(_)
                | Part::TextWithMedia(_)
                | Part::Call(_)
                | Part::Refusal(_) => {}
            }
        }
    }
}

/// Returns `true` if the content of a result must be a list: it holds media, or it came as a list
/// and the endpoint takes lists.
pub(super) fn wants_list(
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    result: &ToolResult<'_>,
) -> bool {
    let is_list = |slot| transcript.doc.value(slot).kind() == Kind::Array;
    let came_as_list =
        transcript.own_wire() == Some(plan.profile.wire) && result.slot.is_some_and(is_list);
    let takes_lists = plan.profile.quirks.tool_content == ToolContent::Any;
    // Only a list can be marked. If the endpoint has marks, content that would be joined into one
    // string stays a list, so that a mark that moves on leaves the same parts behind.
    let several = result.content.len() + usize::from(result.is_error) > 1;
    let may_be_marked = plan.profile.cache.mark.is_some() && several;
    result.content.iter().any(|part| matches!(part, Part::Media(_)))
        || (takes_lists && (came_as_list || may_be_marked))
}

/// Returns the texts among some parts. A part that cannot be expressed as text becomes a notice.
pub(crate) fn texts<'a>(parts: &[Part<'a>]) -> Vec<Str<'a>> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Refusal(text) => {
                (!text.text.is_empty()).then(|| text.text.clone())
            }
            Part::Media(_) | Part::Opaque(_) => Some(Str::plain(notice::NOT_CARRIED)),
            Part::TextWithMedia(_)
            | Part::Nested(_)
            | Part::Call(_)
            | Part::Result(_)
            | Part::Thinking(_)
            | Part::Mark(_) => None,
        })
        .collect()
}

pub(crate) fn list_of_strings<'a>(out: &mut Out<'a>, strings: &[Str<'a>]) {
    out.json("[");
    for text in strings {
        out.comma().string(text);
    }
    out.json("]");
}

/// Returns the text of a plain text document that came as bytes.
pub(crate) fn decoded_text(media: &Media<'_>) -> String {
    match &media.source {
        Source::Data(payload) => String::from_utf8_lossy(&payload.decode()).into_owned(),
        Source::Text(text) => text.decode().into_owned(),
        Source::Url(_) | Source::File(_) | Source::Missing => String::new(),
    }
}

/// Writes texts as one JSON string, separated by line breaks.
pub(crate) fn joined<'a>(out: &mut Out<'a>, texts: &[Str<'a>]) {
    out.json("\"");
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.json("\\n");
        }
        out.inside(text);
    }
    out.json("\"");
}
