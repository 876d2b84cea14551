//! The neutral conversation: messages of parts, borrowing from the body they were lifted from.
//!
//! It mirrors the units of its own wire (a chat message, a Responses item), so that an untouched
//! unit can go out as the bytes that came in. It knows no provider.

use crate::dump::Dump;
use crate::finding::Position;
use crate::json::{Doc, NodeId, Str};
use crate::media::Media;
pub use crate::media::MediaId;
use crate::settings::Settings;
use crate::wire::Wire;

/// A lifted request.
#[derive(Clone, Debug)]
pub struct Transcript<'a> {
    /// The wire it came from; of a dump, the one that it resembles.
    pub wire: Wire,
    /// The framework that stored it, where it is no request of a wire.
    pub dump: Option<Dump>,
    /// The units of the conversation, in order.
    pub messages: Vec<Message<'a>>,
    /// Every picture, document and sound, in the order they stand; parts refer to them.
    pub media: Vec<Media<'a>>,
    /// Everything else the request says: model, tools, limits.
    pub settings: Settings<'a>,
    /// The body and its index.
    pub(crate) doc: Doc<'a>,
    pub(crate) body: &'a [u8],
    /// The array that holds the messages.
    pub(crate) list: Option<NodeId>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The operator's instructions.
    System,
    /// The operator's instructions, newer spelling.
    Developer,
    /// The person, or whoever stands in for one.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A unit we do not understand; it travels as it is.
    Unknown,
}

/// One unit of the conversation.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part<'a>>,
    /// Where it stands in the body; `None` for one of our own.
    pub(crate) node: Option<NodeId>,
    /// The value its parts were read from.
    pub(crate) slot: Option<NodeId>,
    /// Whether it stands in the list of messages or in a field of its own beside it.
    pub(crate) home: Home,
    /// Whether the endpoint's cache should keep what ends with it.
    pub(crate) marked: Option<Life>,
}

/// How long the endpoint's cache is asked to keep what a mark ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// As long as it does without being asked.
    Usual,
    /// As long as it can.
    Long,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    List,
    /// A field of the body: a system prompt, instructions, an input that is one string.
    Field,
}

/// A piece of a message.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// Words.
    Text(Text<'a>),
    /// A picture, document or sound.
    Media(MediaPart),
    /// Words with media found inside them.
    TextWithMedia(TextWithMedia<'a>),
    /// Parts within a part: a document or search result made of content blocks.
    Nested(Nested<'a>),
    /// The model calls a tool.
    Call(Call<'a>),
    /// A tool answers.
    Result(ToolResult<'a>),
    /// The model's reasoning; travels only on its own wire.
    Thinking(Opaque),
    /// A word to the service, not to the model: where its cache ends. Travels only on its own wire,
    /// and nobody misses it elsewhere.
    Mark(Opaque),
    /// The model declines.
    Refusal(Text<'a>),
    /// A part we do not understand; it travels as it is on its own wire.
    Opaque(Opaque),
}

/// Text, and the part that it is in.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The words.
    pub text: Str<'a>,
    pub(crate) node: Option<NodeId>,
}

impl Text<'_> {
    /// Whether there is nothing to read in it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.start().is_empty()
    }
}

/// A medium in a message.
#[derive(Clone, Copy, Debug)]
pub struct MediaPart {
    /// Which one.
    pub id: MediaId,
    pub(crate) node: Option<NodeId>,
}

/// Words that held media: `pieces` is one longer than `media`, and they alternate.
#[derive(Clone, Debug)]
pub struct TextWithMedia<'a> {
    /// The words around the media.
    pub pieces: Vec<Str<'a>>,
    /// What stood between them.
    pub media: Vec<MediaId>,
    /// Whether the JSON around every medium says that it is one.
    pub(crate) typed: bool,
    /// The string that held both.
    pub(crate) value: NodeId,
    /// The part around that string, if it stands in one.
    pub(crate) node: Option<NodeId>,
}

/// A part that holds parts. On its own wire it stays whole unless something in it changes.
#[derive(Clone, Debug)]
pub struct Nested<'a> {
    /// What it holds.
    pub parts: Vec<Part<'a>>,
    /// Where in it the parts stand.
    pub(crate) path: &'static [&'static str],
    /// Whether the wire takes nothing but texts in it.
    pub(crate) words_only: bool,
    pub(crate) changed: bool,
    pub(crate) node: Option<NodeId>,
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// How the result will refer to it.
    pub id: Str<'a>,
    /// The tool.
    pub name: Str<'a>,
    /// What it is called with.
    pub arguments: Arguments<'a>,
    pub(crate) kind: CallKind,
    /// Whether it goes by another id than it came with.
    pub(crate) renamed: bool,
    pub(crate) node: Option<NodeId>,
}

/// The arguments of a call, as the wire spells them.
#[derive(Clone, Debug)]
pub enum Arguments<'a> {
    /// A string that holds JSON.
    Text(Str<'a>),
    /// JSON.
    Json(&'a [u8]),
    /// JSON that is no object, under the name it gets in one.
    Wrapped(&'static str, &'a [u8]),
    /// Free text, of a tool that takes no JSON.
    Free(Str<'a>),
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// The call it answers.
    pub call_id: Str<'a>,
    /// The tool, where the wire says so.
    pub name: Option<Str<'a>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What it returned.
    pub content: Vec<Part<'a>>,
    /// The kind of call it answers.
    pub(crate) kind: CallKind,
    /// What its own wire demands of it beside the rest.
    pub(crate) bounds: Bounds,
    /// Whether its content differs from what was read.
    pub(crate) content_changed: bool,
    /// Whether it and its call go by another id than they came with.
    pub(crate) renamed: bool,
    pub(crate) node: Option<NodeId>,
    /// The value the content was read from.
    pub(crate) slot: Option<NodeId>,
}

/// What a wire demands of a result and its neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Nothing but results may stand in its message: a tool of the provider's waits for them.
    pub(crate) alone: bool,
    /// Code reads it and the model does not.
    pub(crate) for_code: bool,
}

/// The kinds of calls, where a wire tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Of a function with a schema.
    Function,
    /// Of a tool that takes free text.
    Custom,
    /// Of a hosted computer; its result is a picture of the screen and nothing else.
    Screen,
    /// Of a tool whose result stands without a call that could be read, and holds words only.
    Hosted,
}

/// Something that travels as it is.
#[derive(Clone, Copy, Debug)]
pub struct Opaque {
    pub(crate) node: Option<NodeId>,
}

impl Part<'_> {
    /// Words of our own.
    pub(crate) fn note(text: impl Into<String>) -> Self {
        Part::Text(Text { text: Str::plain(text.into()), node: None })
    }

    /// Where it stands in the body.
    pub(crate) fn node(&self) -> Option<NodeId> {
        match self {
            Part::Text(text) | Part::Refusal(text) => text.node,
            Part::Media(medium) => medium.node,
            Part::Nested(nested) => nested.node,
            Part::Call(call) => call.node,
            Part::Result(result) => result.node,
            Part::Thinking(opaque) | Part::Mark(opaque) | Part::Opaque(opaque) => opaque.node,
            Part::TextWithMedia(_) => None,
        }
    }

    /// Calls `visit` with every medium in the part, results included.
    pub(crate) fn each_media(&self, visit: &mut impl FnMut(MediaId)) {
        match self {
            Part::Media(part) => visit(part.id),
            Part::TextWithMedia(woven) => woven.media.iter().copied().for_each(visit),
            Part::Result(result) => {
                result.content.iter().for_each(|part| part.each_media(visit));
            }
            Part::Nested(nested) => nested.parts.iter().for_each(|part| part.each_media(visit)),
            Part::Text(_)
            | Part::Call(_)
            | Part::Thinking(_)
            | Part::Mark(_)
            | Part::Refusal(_)
            | Part::Opaque(_) => {}
        }
    }
}

impl<'a> Message<'a> {
    /// A message of our own.
    pub(crate) const fn new(role: Role, parts: Vec<Part<'a>>) -> Self {
        Self { role, parts, node: None, slot: None, home: Home::List, marked: None }
    }

    /// The calls it makes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The results it brings.
    pub(crate) fn results(&self) -> impl Iterator<Item = &ToolResult<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
    }
}

impl<'a> Transcript<'a> {
    /// A transcript of a body in which no conversation could be read; it lowers to itself.
    pub(crate) fn unreadable(wire: Wire, body: &'a [u8]) -> Self {
        Self {
            wire,
            dump: None,
            messages: Vec::new(),
            media: Vec::new(),
            settings: Settings::default(),
            doc: Doc::empty(body),
            body,
            list: None,
        }
    }

    /// Whether the body could be read as a conversation.
    pub fn is_readable(&self) -> bool {
        self.doc.root().is_some()
    }

    /// The wire on which its bytes could be sent as they are; none for a dump.
    pub(crate) fn own_wire(&self) -> Option<Wire> {
        self.dump.is_none().then_some(self.wire)
    }

    /// The body it was lifted from.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Where a medium stands in the body.
    pub fn position(&self, id: MediaId) -> Option<Position> {
        let media = self.media.get(id)?;
        Some(self.position_of(media.node, media.inner.as_deref()))
    }

    /// The position of a node, or of a value inside the JSON that the string at the node holds.
    pub(crate) fn position_of(&self, node: NodeId, inner: Option<&str>) -> Position {
        Position { pointer: self.doc.pointer(node), inner: inner.map(str::to_owned) }
    }

    /// The bytes of a node.
    pub(crate) fn raw(&self, node: NodeId) -> &'a [u8] {
        self.doc.value(node).raw()
    }
}
