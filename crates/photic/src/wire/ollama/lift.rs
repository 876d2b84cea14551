//! Reads an `/api/chat` body into a transcript.

use super::MARKER;
use crate::json::{Kind, Str, Value};
use crate::lift::{CallIds, Draft, Lifter, TextOwner, base64_medium, text_of};
use crate::media::MediaKind;
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Message, Opaque, Part, Role, Text, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let list = root.get("messages").filter(|list| list.kind() == Kind::Array);
    let mut ids = CallIds::default();
    let messages = list
        .into_iter()
        .flat_map(Value::items)
        .map(|message| read_message(lifter, &mut ids, message))
        .collect();
    Draft { messages, settings: super::settings::read(root), list: list.map(|list| list.id()) }
}

pub(super) fn read_message<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    ids: &mut CallIds<'a>,
    message: Value<'d, 'a>,
) -> Message<'a> {
    let role = match text_of(message, "role").decode().as_ref() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Unknown,
    };
    let content = message.get("content");
    let mut parts = Vec::new();
    match role {
        Role::Unknown => parts.push(Part::Opaque(Opaque { node: Some(message.id()) })),
        Role::Tool => {
            let mut inner = Vec::new();
            read_content(lifter, message, TextOwner::Foreign, &mut inner);
            let name = text_of(message, "tool_name");
            let id = message.get("tool_call_id").and_then(|id| id.str());
            parts.push(Part::Result(ToolResult {
                call_id: ids.result(id, &name),
                name: Some(name).filter(|name| !name.is_empty()),
                is_error: false,
                content: inner,
                kind: CallKind::Function,
                bounds: Bounds::default(),
                content_changed: false,
                renamed: false,
                node: Some(message.id()),
                slot: content.map(|slot| slot.id()),
            }));
        }
        Role::System | Role::Developer | Role::User | Role::Assistant => {
            read_content(lifter, message, TextOwner::of(role), &mut parts);
            if role == Role::Assistant {
                assistant_fields(ids, message, &mut parts);
            }
        }
    }
    Message {
        node: Some(message.id()),
        slot: content.map(|slot| slot.id()),
        ..Message::new(role, parts)
    }
}

fn assistant_fields<'a>(ids: &mut CallIds<'a>, message: Value<'_, 'a>, parts: &mut Vec<Part<'a>>) {
    if let Some(thinking) = message.get("thinking").filter(|value| !value.is_null()) {
        parts.insert(0, Part::Thinking(Opaque { node: Some(thinking.id()) }));
    }
    ids.turn();
    for call in message.get("tool_calls").into_iter().flat_map(Value::items) {
        let Some(function) = call.get("function") else {
            parts.push(Part::Opaque(Opaque { node: Some(call.id()) }));
            continue;
        };
        let name = text_of(function, "name");
        parts.push(Part::Call(Call {
            id: ids.call(call.get("id").and_then(|id| id.str()), &name),
            name,
            namespace: None,
            arguments: match function.get("arguments") {
                Some(json) if json.kind() == Kind::Object => Arguments::Json(json.raw()),
                Some(text) if text.kind() == Kind::String => {
                    Arguments::Text(text_of(function, "arguments"))
                }
                _ => Arguments::Json(b"{}"),
            },
            kind: CallKind::Function,
            renamed: false,
            node: Some(call.id()),
        }));
    }
}

/// Reads text and pictures. A picture goes to its marker in the text, or before all text.
fn read_content<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    message: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let images = message.get("images").into_iter().flat_map(Value::items);
    let mut images = images.map(|image| {
        let mut media = base64_medium(image, None, MediaKind::Image);
        // Sounds are in the same list.
        if media.is_film_or_sound() {
            media.kind = MediaKind::Audio;
        }
        lifter.media(media, Some(image.id()))
    });
    let Some(content) = message.get("content") else { return parts.extend(images) };
    let pieces = content.str().filter(|_| message.get("images").is_some()).map(|text| cut(&text));
    match pieces {
        Some(pieces) if pieces.len() > 1 => {
            let mut marked: Vec<Part<'a>> = Vec::new();
            let last = pieces.len() - 1;
            for (index, text) in pieces.into_iter().enumerate() {
                if !text.is_empty() {
                    marked.push(Part::Text(Text { text, node: None }));
                }
                if index < last {
                    marked.extend(images.next());
                }
            }
            // More pictures than markers: the others go in front.
            parts.extend(images);
            parts.append(&mut marked);
        }
        _ => {
            parts.extend(images);
            if !(content.is_null() || (content.is("") && !parts.is_empty())) {
                lifter.anything(content, words, parts);
            }
        }
    }
}

/// Returns the pieces of a text between its markers.
fn cut<'a>(text: &Str<'a>) -> Vec<Str<'a>> {
    match text {
        Str::Escaped(bytes) => {
            let mut pieces = Vec::new();
            let mut at = 0;
            for found in memchr::memmem::find_iter(bytes, MARKER) {
                pieces.push(Str::Escaped(trimmed(&bytes[at..found])));
                at = found + MARKER.len();
            }
            pieces.push(Str::Escaped(trimmed(&bytes[at..])));
            pieces
        }
        Str::Plain(text) => text
            .split(MARKER)
            .map(|piece| Str::plain(piece.trim_matches('\n').to_owned()))
            .collect(),
    }
}

/// Removes the line breaks around a marker.
fn trimmed(escaped: &[u8]) -> &[u8] {
    let inner = escaped.strip_prefix(b"\\n").unwrap_or(escaped);
    match inner.strip_suffix(b"\\n") {
        // An escaped backslash before an `n` is not a line break.
        Some(rest)
            if rest.iter().rev().take_while(|&&byte| byte == b'\\').count().is_multiple_of(2) =>
        {
            rest
        }
        _ => inner,
    }
}
