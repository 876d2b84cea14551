//! Reads a Chat Completions body into a transcript.

use crate::json::{Kind, Value};
use crate::lift::{
    Draft, Lifter, TextOwner, address_medium, audio_type, base64_medium, file_medium, medium,
    text_of,
};
use crate::media::{Found, Media, MediaKind, Source, Spelled, begins_with_data};
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Message, Opaque, Part, Role, Text, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let list = root.get("messages").filter(|list| list.kind() == Kind::Array);
    let mut messages = Vec::with_capacity(list.map_or(0, Value::count));
    for message in list.into_iter().flat_map(Value::items) {
        messages.push(read_message(lifter, message));
    }
    Draft { messages, settings: super::settings::read(root), list: list.map(|list| list.id()) }
}

pub(super) fn read_message<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    message: Value<'d, 'a>,
) -> Message<'a> {
    let [role, content, reasoning, refusal, calls] =
        message.members(["role", "content", "reasoning_content", "refusal", "tool_calls"]);
    let role = role.map(|role| role.word());
    let role = match role.as_deref() {
        Some(b"system") => Role::System,
        Some(b"developer") => Role::Developer,
        Some(b"user") => Role::User,
        Some(b"assistant") => Role::Assistant,
        Some(b"tool") => Role::Tool,
        Some(b"function") => match read_function(lifter, message) {
            Some(message) => return message,
            None => Role::Unknown,
        },
        _ => Role::Unknown,
    };
    let words = TextOwner::of(role);
    let mut parts = Vec::new();
    match role {
        Role::Unknown => parts.push(Part::Opaque(Opaque { node: Some(message.id()) })),
        Role::Tool => {
            let mut content_parts = Vec::new();
            read_content(lifter, content, words, &mut content_parts);
            parts.push(Part::Result(ToolResult {
                call_id: text_of(message, "tool_call_id"),
                name: None,
                is_error: false,
                content: content_parts,
                kind: CallKind::Function,
                bounds: Bounds::default(),
                content_changed: false,
                renamed: false,
                node: Some(message.id()),
                slot: content.map(|slot| slot.id()),
            }));
        }
        Role::System | Role::Developer | Role::User | Role::Assistant => {
            read_content(lifter, content, words, &mut parts);
            if role == Role::Assistant {
                // DeepSeek and compatible servers use the name `reasoning_content`.
                if let Some(thinking) = reasoning.filter(|value| !value.is_null()) {
                    parts.insert(0, Part::Thinking(Opaque { node: Some(thinking.id()) }));
                }
                if let Some(refusal) = refusal.and_then(|value| value.str()) {
                    parts.push(Part::Refusal(Text { text: refusal, node: None }));
                }
                parts.extend(calls.into_iter().flat_map(Value::items).map(read_call));
            }
        }
    }
    Message {
        node: Some(message.id()),
        slot: content.map(|slot| slot.id()),
        ..Message::new(role, parts)
    }
}

/// Reads the result of a function of the first API, if there is a picture in it. Otherwise the
/// message is sent unchanged. It has no call id, and its content is a string.
fn read_function<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    message: Value<'d, 'a>,
) -> Option<Message<'a>> {
    let content = message.get("content").filter(|content| content.kind() == Kind::String)?;
    let before = lifter.count();
    let mut parts = Vec::new();
    lifter.text(content, None, TextOwner::Foreign, &mut parts);
    if lifter.count() == before {
        return None;
    }
    let result = ToolResult {
        call_id: text_of(message, "name"),
        name: Some(text_of(message, "name")),
        is_error: false,
        content: parts,
        kind: CallKind::Hosted,
        bounds: Bounds::default(),
        content_changed: false,
        renamed: false,
        node: Some(message.id()),
        slot: Some(content.id()),
    };
    Some(Message {
        node: Some(message.id()),
        slot: Some(content.id()),
        ..Message::new(Role::Tool, vec![Part::Result(result)])
    })
}

fn read_call<'a>(call: Value<'_, 'a>) -> Part<'a> {
    let (inner, arguments, kind) = match (call.get("function"), call.get("custom")) {
        (Some(function), _) => {
            let arguments =
                match function.get("arguments").filter(|json| json.kind() == Kind::Object) {
                    // Some servers send JSON here instead of a string.
                    Some(json) => Arguments::Json(json.raw()),
                    None => Arguments::Text(text_of(function, "arguments")),
                };
            (function, arguments, CallKind::Function)
        }
        (None, Some(custom)) => {
            (custom, Arguments::Free(text_of(custom, "input")), CallKind::Custom)
        }
        (None, None) => return Part::Opaque(Opaque { node: Some(call.id()) }),
    };
    Part::Call(Call {
        id: text_of(call, "id"),
        name: text_of(inner, "name"),
        namespace: None,
        arguments,
        kind,
        renamed: false,
        node: Some(call.id()),
    })
}

fn read_content<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    content: Option<Value<'d, 'a>>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    match content.map(|content| (content, content.kind())) {
        Some((list, Kind::Array)) => {
            for part in list.items() {
                read_part(lifter, part, words, parts);
            }
        }
        Some((value, _)) => lifter.anything(value, words, parts),
        None => {}
    }
}

fn read_part<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    part: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(part.id());
    if part.kind() == Kind::String {
        return lifter.text(part, node, words, parts);
    }
    let type_name = part.word_of("type");
    let read = match type_name.as_deref() {
        Some(b"text") => match part.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => return lifter.text(text, node, words, parts),
            None => Part::Opaque(Opaque { node }),
        },
        Some(b"refusal") => Part::Refusal(Text { text: text_of(part, "refusal"), node }),
        Some(b"image_url") => {
            let address = part.get("image_url");
            let inner = address.filter(|address| address.kind() == Kind::Object);
            match inner.map_or(address, |inner| inner.get("url")) {
                Some(url) if url.kind() == Kind::String => {
                    let mut media = address_medium(url, MediaKind::Image);
                    media.detail = inner.and_then(|inner| inner.get("detail")?.str());
                    media.spelled = if inner.is_some() { Spelled::InFull } else { Spelled::Short };
                    lifter.media(media, node)
                }
                _ => Part::Opaque(Opaque { node }),
            }
        }
        Some(b"input_audio") => {
            let inner = part.get("input_audio").unwrap_or(part);
            match inner.get("data") {
                Some(data) => {
                    let declared = inner.get("format").and_then(|format| format.str());
                    let declared = declared.map(|format| audio_type(&format.decode()));
                    let media = base64_medium(data, declared.as_ref(), MediaKind::Audio);
                    lifter.media(media, node)
                }
                None => match read_short_audio(inner) {
                    Some(media) => lifter.media(media, node),
                    None => Part::Opaque(Opaque { node }),
                },
            }
        }
        Some(b"file") => match read_file(part) {
            Some(media) => lifter.media(media, node),
            None => lifter.unknown_part(part),
        },
        Some(b"document_url") => match read_document(part) {
            Some(media) => lifter.media(media, node),
            None => lifter.unknown_part(part),
        },
        _ => lifter.unknown_part(part),
    };
    parts.push(read);
}

/// Reads a sound that is a string of base64, if its bytes show its type.
fn read_short_audio<'a>(audio: Value<'_, 'a>) -> Option<Media<'a>> {
    audio.str()?;
    let media = base64_medium(audio, None, MediaKind::Audio);
    let is_audio = media.header().media_type.is_some_and(|name| name.starts_with("audio/"));
    is_audio.then_some(Media { spelled: Spelled::Short, ..media })
}

/// Reads a document whose bytes are in the body. An address is left to the client and its
/// provider.
fn read_document<'a>(part: Value<'_, 'a>) -> Option<Media<'a>> {
    let address = part.get("document_url")?;
    begins_with_data(&address.str()?).then(|| Media {
        name: part.get("document_name").and_then(|name| name.str()),
        spelled: Spelled::Short,
        ..file_medium(address)
    })
}

fn read_file<'a>(part: Value<'_, 'a>) -> Option<Media<'a>> {
    if let Some(id) = part.get("file_id") {
        let source = Source::File(id.str()?);
        let media = medium(MediaKind::Document, source, None, Found::Typed, id.id());
        return Some(Media { spelled: Spelled::Short, ..media });
    }
    let file = part.get("file").filter(|file| file.kind() == Kind::Object)?;
    let mut media = if let Some(data) = file.get("file_data") {
        file_medium(data)
    } else {
        let id = file.get("file_id")?;
        medium(MediaKind::Document, Source::File(id.str()?), None, Found::Typed, id.id())
    };
    media.name = file.get("filename").and_then(|name| name.str());
    Some(media)
}
