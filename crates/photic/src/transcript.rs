//! The neutral conversation: messages made of parts, borrowing from the body they were lifted
//! from.
//!
//! It mirrors the units of its own wire (a chat message, a Responses item), so that an untouched
//! unit can be sent as the bytes that came in. It knows no provider.

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
    /// The wire it came from; for a dump, the one that it resembles.
    pub wire: Wire,
    /// The framework that stored it, if it is not a request of a wire.
    pub dump: Option<Dump>,
    /// The units of the conversation, in order.
    pub messages: Vec<Message<'a>>,
    /// Every picture, document and sound, in the order of the body. Parts refer to them.
    pub media: Vec<Media<'a>>,
    /// Everything else in the request: model, tools, limits.
    pub settings: Settings<'a>,
    /// The body and its index.
    pub(crate) doc: Doc<'a>,
    pub(crate) body: &'a [u8],
    /// The array that holds the messages.
    pub(crate) list: Option<NodeId>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The operator's instructions.
    System,
    /// The operator's instructions, newer spelling.
    Developer,
    /// The user, or a program in the user's place.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A unit that photic does not understand. It is sent unchanged.
    Unknown,
}

/// One unit of the conversation.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The author.
    pub role: Role,
    /// The content.
    pub parts: Vec<Part<'a>>,
    /// Its node in the body; `None` for a message that was added.
    pub(crate) node: Option<NodeId>,
    /// The value its parts were read from.
    pub(crate) slot: Option<NodeId>,
    /// Its place in the body: in the list of messages, or in a field beside it.
    pub(crate) home: Home,
    /// Set if a prompt cache breakpoint goes behind it: the lifetime to ask for.
    pub(crate) marked: Option<Life>,
}

/// The lifetime that a prompt cache breakpoint asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// The endpoint's default.
    Usual,
    /// The longest that the endpoint offers.
    Long,
}

/// The place of a message in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    List,
    /// A field of the body: a system prompt, instructions, an input that is one string.
    Field,
}

/// A piece of a message.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// Text.
    Text(Text<'a>),
    /// A picture, document or sound.
    Media(MediaPart),
    /// Text with media found inside it.
    TextWithMedia(TextWithMedia<'a>),
    /// Parts within a part: a document or search result made of content blocks.
    Nested(Nested<'a>),
    /// The model calls a tool.
    Call(Call<'a>),
    /// A tool answers.
    Result(ToolResult<'a>),
    /// The model's reasoning. It is sent only on its own wire.
    Thinking(Opaque),
    /// A prompt cache breakpoint. It is for the service and not for the model. It is sent only on
    /// its own wire, and is not needed on others.
    Mark(Opaque),
    /// The model declines.
    Refusal(Text<'a>),
    /// A part that photic does not understand. It is sent unchanged on its own wire.
    Opaque(Opaque),
}

/// Text, and the part that it is in.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The text.
    pub text: Str<'a>,
    pub(crate) node: Option<NodeId>,
}

impl Text<'_> {
    /// Returns `true` if it is empty or only white space.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.start().is_empty()
    }
}

/// A medium in a message.
#[derive(Clone, Copy, Debug)]
pub struct MediaPart {
    /// The medium.
    pub id: MediaId,
    pub(crate) node: Option<NodeId>,
}

/// Text that held media. `pieces` is one longer than `media`, and they alternate.
#[derive(Clone, Debug)]
pub struct TextWithMedia<'a> {
    /// The text around the media.
    pub pieces: Vec<Str<'a>>,
    /// The media between the pieces.
    pub media: Vec<MediaId>,
    /// `true` if the JSON around every medium says that it is one.
    pub(crate) typed: bool,
    /// The string that held both.
    pub(crate) value: NodeId,
    /// The part around that string, if there is one.
    pub(crate) node: Option<NodeId>,
}

/// A part that holds parts. On its own wire it stays whole unless something in it changes.
#[derive(Clone, Debug)]
pub struct Nested<'a> {
    /// Its parts.
    pub parts: Vec<Part<'a>>,
    /// The path to the parts within it.
    pub(crate) path: &'static [&'static str],
    /// `true` if the wire takes only texts in it.
    pub(crate) words_only: bool,
    pub(crate) changed: bool,
    pub(crate) node: Option<NodeId>,
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The id by which its result refers to it.
    pub id: Str<'a>,
    /// The tool.
    pub name: Str<'a>,
    /// The group of tools that it belongs to, on the wire that has groups.
    pub namespace: Option<Str<'a>>,
    /// Its arguments.
    pub arguments: Arguments<'a>,
    pub(crate) kind: CallKind,
    /// `true` if its id differs from the one it came with.
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
    /// JSON that is not an object, and the name it gets inside one.
    Wrapped(&'static str, &'a [u8]),
    /// Free text, for a tool that takes no JSON.
    Free(Str<'a>),
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// The call it answers.
    pub call_id: Str<'a>,
    /// The tool, if the wire names it.
    pub name: Option<Str<'a>>,
    /// `true` if the tool failed.
    pub is_error: bool,
    /// The content that the tool returned.
    pub content: Vec<Part<'a>>,
    /// The kind of call it answers.
    pub(crate) kind: CallKind,
    /// Additional restrictions of its own wire.
    pub(crate) bounds: Bounds,
    /// `true` if its content differs from what was read.
    pub(crate) content_changed: bool,
    /// `true` if its id or its tool's name differs from the one it came with.
    pub(crate) renamed: bool,
    pub(crate) node: Option<NodeId>,
    /// The value the content was read from.
    pub(crate) slot: Option<NodeId>,
}

/// Restrictions of a wire on a result and its neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// `true` if its message may hold only results, because a tool of the provider waits for them.
    pub(crate) alone: bool,
    /// `true` if code reads it and the model does not.
    pub(crate) for_code: bool,
}

/// The kinds of calls, on wires that tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// A call of a function with a schema.
    Function,
    /// A call of a tool that takes free text.
    Custom,
    /// A call of a hosted computer. Its result is a screenshot and nothing else.
    Screen,
    /// A call of a tool whose result comes without a readable call, and holds only text.
    Hosted,
}

/// A part that is sent unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Opaque {
    pub(crate) node: Option<NodeId>,
}

impl Part<'_> {
    /// Creates a text part with our own text.
    pub(crate) fn note(text: impl Into<String>) -> Self {
        Part::Text(Text { text: Str::plain(text.into()), node: None })
    }

    /// Returns its node in the body.
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
            Part::TextWithMedia(mixed) => mixed.media.iter().copied().for_each(visit),
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
    /// Creates a message that is not in the body.
    pub(crate) const fn new(role: Role, parts: Vec<Part<'a>>) -> Self {
        Self { role, parts, node: None, slot: None, home: Home::List, marked: None }
    }

    /// Returns the calls in it.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the results in it.
    pub(crate) fn results(&self) -> impl Iterator<Item = &ToolResult<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
    }
}

impl<'a> Transcript<'a> {
    /// Creates the transcript of a body without a readable conversation. It lowers to the same
    /// bytes.
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

    /// Returns `true` if the body could be read as a conversation.
    pub fn is_readable(&self) -> bool {
        self.doc.root().is_some()
    }

    /// Returns the wire on which its bytes could be sent unchanged; `None` for a dump.
    pub(crate) fn own_wire(&self) -> Option<Wire> {
        self.dump.is_none().then_some(self.wire)
    }

    /// Returns the body it was lifted from.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Returns the position of a medium in the body.
    pub fn position(&self, id: MediaId) -> Option<Position> {
        let media = self.media.get(id.index())?;
        Some(self.position_of(media.node, media.inner.as_deref()))
    }

    /// Returns the position of a node, or of a value inside the JSON that the string at the node
    /// holds.
    pub(crate) fn position_of(&self, node: NodeId, inner: Option<&str>) -> Position {
        Position { pointer: self.doc.pointer(node), inner: inner.map(str::to_owned) }
    }

    /// Returns the bytes of a node.
    pub(crate) fn raw(&self, node: NodeId) -> &'a [u8] {
        self.doc.value(node).raw()
    }
}
