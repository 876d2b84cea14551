//! Reads a Messages body into a transcript.

use crate::json::{Kind, Value};
use crate::lift::{Draft, Lifter, Pending, TextOwner, base64_medium, medium, text_of};
use crate::media::{Found, Media, MediaKind, Source, is_reference};
use crate::transcript::{
    Arguments, Call, CallKind, Home, Message, Nested, Opaque, Part, Role, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let mut messages = Vec::new();
    if let Some(system) = root.get("system").filter(|system| !system.is_null()) {
        let mut message = read_turn(lifter, system, Some(system), Role::System);
        message.home = Home::Field;
        messages.push(message);
    }
    let list = root.get("messages").filter(|list| list.kind() == Kind::Array);
    messages.reserve(list.map_or(0, Value::count));
    let mut before = Role::Unknown;
    for turn in list.into_iter().flat_map(Value::items) {
        let role = match turn.word_of("role").as_deref() {
            Some(b"user") => Role::User,
            Some(b"assistant") => Role::Assistant,
            Some(b"system") => Role::System,
            _ => Role::Unknown,
        };
        if role == Role::Assistant && before != Role::Assistant {
            lifter.pending.clear();
        }
        before = role;
        messages.push(read_turn(lifter, turn, turn.get("content"), role));
    }
    Draft { messages, settings: super::settings::read(root), list: list.map(|list| list.id()) }
}

pub(super) fn read_turn<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    turn: Value<'d, 'a>,
    content: Option<Value<'d, 'a>>,
    role: Role,
) -> Message<'a> {
    let words = TextOwner::of(role);
    let mut parts = Vec::new();
    match content.map(|content| (content, content.kind())) {
        _ if role == Role::Unknown => parts.push(Part::Opaque(Opaque { node: Some(turn.id()) })),
        Some((list, Kind::Array)) => {
            for block in list.items() {
                read_block(lifter, block, words, Depth::TOP, &mut parts);
            }
        }
        Some((value, _)) => lifter.anything(value, words, &mut parts),
        None => {}
    }
    let slot = content.map(|content| content.id());
    Message { node: Some(turn.id()), slot, ..Message::new(role, parts) }
}

/// The number of blocks around a block. Real ones have three at most (a result, a document in it,
/// an image in that). Deeper ones are not followed, because the depth is untrusted.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Depth(u8);

impl Depth {
    const TOP: Self = Self(0);
    const DEEPEST: Self = Self(4);

    const fn below(self) -> Self {
        Self(self.0 + 1)
    }
}

fn read_block<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    words: TextOwner,
    depth: Depth,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(block.id());
    if depth == Depth::DEEPEST {
        parts.push(Part::Opaque(Opaque { node }));
        return;
    }
    if block.kind() == Kind::String {
        return lifter.text(block, node, words, parts);
    }
    let type_name = block.word_of("type");
    note_pending(&mut lifter.pending, block, type_name.as_deref().unwrap_or_default());
    let read = match type_name.as_deref() {
        Some(b"text") => match block.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => return lifter.text(text, node, words, parts),
            None => Part::Opaque(Opaque { node }),
        },
        Some(b"thinking" | b"redacted_thinking") => Part::Thinking(Opaque { node }),
        Some(b"tool_use") => Part::Call(Call {
            id: text_of(block, "id"),
            name: text_of(block, "name"),
            namespace: None,
            arguments: block
                .get("input")
                .map_or(Arguments::Json(b"{}"), |json| Arguments::Json(json.raw())),
            kind: CallKind::Function,
            renamed: false,
            node,
        }),
        Some(b"tool_result") if depth == Depth::TOP => return read_result(lifter, block, parts),
        Some(b"search_result") => match nested(lifter, block, &["content"], words, depth) {
            Part::Nested(inner) => Part::Nested(Nested { words_only: true, ..inner }),
            other => other,
        },
        // A summary of earlier messages. On its own wire it is signed.
        Some(b"compaction") if has_words(block) => {
            nested(lifter, block, &["content"], TextOwner::Own, depth)
        }
        Some(b"document") if has_content_source(block) => {
            nested(lifter, block, &["source", "content"], words, depth)
        }
        Some(kind @ (b"image" | b"document")) => match read_source(block, kind == b"image") {
            Some(media) => lifter.media(media, node),
            None => lifter.unknown_part(block),
        },
        _ => lifter.unknown_part(block),
    };
    parts.push(read);
}

/// Notes the calls that the provider's own tools wait for: of tools that it runs, and of code.
fn note_pending(pending: &mut Pending, block: Value<'_, '_>, type_name: &[u8]) {
    let id = |name: &str| text_of(block, name).decode().into_owned();
    match type_name {
        b"tool_use" => {
            let caller = block.get("caller").and_then(|caller| caller.get("type"));
            if caller.is_some_and(|caller| !caller.is("direct")) {
                pending.of_code.push(id("id"));
            }
        }
        b"server_tool_use" | b"mcp_tool_use" => pending.servers.push(id("id")),
        b"tool_result" => {}
        other if other.ends_with(b"_tool_result") => {
            let answered = id("tool_use_id");
            pending.servers.retain(|open| *open != answered);
        }
        _ => {}
    }
}

/// Returns `true` if the content of a block is a text.
fn has_words(block: Value<'_, '_>) -> bool {
    let words = block.get("content").and_then(|content| content.str());
    words.is_some_and(|words| !words.decode().trim().is_empty())
}

/// Returns `true` if a document is made of blocks.
fn has_content_source(block: Value<'_, '_>) -> bool {
    let source = block.get("source");
    source.and_then(|source| source.get("type")).is_some_and(|name| name.is("content"))
}

fn nested<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    path: &'static [&'static str],
    words: TextOwner,
    depth: Depth,
) -> Part<'a> {
    let content = path.iter().try_fold(block, |value, name| value.get(name));
    let mut parts = Vec::new();
    match content.map(|content| (content, content.kind())) {
        Some((text, Kind::String)) => lifter.text(text, None, words, &mut parts),
        Some((list, Kind::Array)) => {
            for inner in list.items() {
                read_block(lifter, inner, words, depth.below(), &mut parts);
            }
        }
        _ => {}
    }
    let node = Some(block.id());
    Part::Nested(Nested { parts, path, words_only: false, changed: false, node })
}

fn read_result<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    parts: &mut Vec<Part<'a>>,
) {
    let slot = block.get("content");
    let call_id = text_of(block, "tool_use_id");
    let bounds = lifter.pending.bounds(&call_id);
    // A result for code is not shown to the model.
    let words = if bounds.for_code { TextOwner::Own } else { TextOwner::Foreign };
    let mut content = Vec::new();
    match slot.map(|slot| (slot, slot.kind())) {
        Some((list, Kind::Array)) => {
            for inner in list.items() {
                read_block(lifter, inner, words, Depth::TOP.below(), &mut content);
            }
        }
        Some((value, _)) => lifter.anything(value, words, &mut content),
        None => {}
    }
    parts.push(Part::Result(ToolResult {
        call_id,
        name: None,
        is_error: block.get("is_error").and_then(|flag| flag.bool()).unwrap_or(false),
        content,
        kind: CallKind::Function,
        bounds,
        content_changed: false,
        renamed: false,
        node: Some(block.id()),
        slot: slot.map(|slot| slot.id()),
    }));
}

fn read_source<'a>(block: Value<'_, 'a>, image: bool) -> Option<Media<'a>> {
    let kind = if image { MediaKind::Image } else { MediaKind::Document };
    let source = block.get("source").filter(|source| source.kind() == Kind::Object)?;
    let declared = source.get("media_type").and_then(|label| label.str());
    let type_name = source.get("type")?.str()?.decode();
    let mut media = match &*type_name {
        "base64" => base64_medium(source.get("data")?, declared.as_ref(), kind),
        "url" => {
            let url = source.get("url")?;
            medium(kind, Source::Url(url.str()?), None, Found::Typed, url.id())
        }
        "file" => {
            let id = source.get("file_id")?;
            let name = id.str()?;
            let source = if is_reference(&name) { Source::Url(name) } else { Source::File(name) };
            medium(kind, source, None, Found::Typed, id.id())
        }
        "text" => {
            let data = source.get("data")?;
            medium(kind, Source::Text(data.str()?), declared, Found::Typed, data.id())
        }
        _ => return None,
    };
    media.name = block.get("title").and_then(|title| title.str());
    Some(media)
}
