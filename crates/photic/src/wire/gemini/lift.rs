//! Reads a `generateContent` body into a transcript.
//!
//! Every name may be spelled in camel case or with underscores: the service takes both.

use super::spelling::{either, level_of};
use crate::json::{Kind, Str, Value};
use crate::lift::{CallIds, Draft, Lifter, TextOwner, base64_medium, medium, text_of};
use crate::media::{
    Found, Media, MediaKind, Source, is_reference, is_type, proper_name, says_film_or_sound,
    sniff_kind,
};
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Home, Message, Opaque, Part, Role, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let mut messages = Vec::new();
    let mut ids = CallIds::default();
    if let Some(system) = either(root, "systemInstruction", "system_instruction")
        .filter(|system| system.kind() == Kind::Object)
    {
        let message = read_content(lifter, &mut ids, system, Role::System);
        messages.push(Message { home: Home::Field, ..message });
    }
    let list = root.get("contents").filter(|list| list.kind() == Kind::Array);
    let mut before = Role::Unknown;
    for content in list.into_iter().flat_map(Value::items) {
        let role = match text_of(content, "role").decode().as_ref() {
            // A single turn may leave its role out. Older clients send `function`.
            "user" | "function" | "" => Role::User,
            "model" => Role::Assistant,
            "system" => Role::System,
            _ => Role::Unknown,
        };
        if role == Role::Assistant && before != Role::Assistant {
            ids.turn();
        }
        before = role;
        messages.push(read_content(lifter, &mut ids, content, role));
    }
    Draft { messages, settings: super::settings::read(root), list: list.map(|list| list.id()) }
}

pub(super) fn read_content<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    ids: &mut CallIds<'a>,
    content: Value<'d, 'a>,
    role: Role,
) -> Message<'a> {
    let slot = content.get("parts");
    let mut parts = Vec::new();
    if role == Role::Unknown {
        parts.push(Part::Opaque(Opaque { node: Some(content.id()) }));
    } else {
        for part in slot.into_iter().flat_map(Value::items) {
            read_part(lifter, ids, part, TextOwner::of(role), &mut parts);
        }
    }
    Message {
        node: Some(content.id()),
        slot: slot.map(|slot| slot.id()),
        ..Message::new(role, parts)
    }
}

fn read_part<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    ids: &mut CallIds<'a>,
    part: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(part.id());
    let thought = part.get("thought").and_then(|flag| flag.bool()).unwrap_or(false);
    let read = if thought {
        Part::Thinking(Opaque { node })
    } else if let Some(text) = part.get("text").filter(|text| text.kind() == Kind::String) {
        return lifter.text(text, node, words, parts);
    } else if let Some(blob) = either(part, "inlineData", "inline_data") {
        match inline(blob) {
            Some(media) => lifter.media(Media { detail: resolution(part), ..media }, node),
            None => Part::Opaque(Opaque { node }),
        }
    } else if let Some(file) = either(part, "fileData", "file_data") {
        match stored(file) {
            Some(media) => lifter.media(media, node),
            None => Part::Opaque(Opaque { node }),
        }
    } else if let Some(call) = either(part, "functionCall", "function_call") {
        let name = text_of(call, "name");
        Part::Call(Call {
            id: ids.call(call.get("id").and_then(|id| id.str()), &name),
            name,
            namespace: None,
            arguments: call
                .get("args")
                .filter(|json| json.kind() == Kind::Object)
                .map_or(Arguments::Json(b"{}"), |json| Arguments::Json(json.raw())),
            kind: CallKind::Function,
            renamed: false,
            node,
        })
    } else if let Some(response) = either(part, "functionResponse", "function_response") {
        read_response(lifter, ids, part, response)
    } else {
        lifter.unknown_part(part)
    };
    parts.push(read);
}

fn read_response<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    ids: &mut CallIds<'a>,
    part: Value<'d, 'a>,
    response: Value<'d, 'a>,
) -> Part<'a> {
    let name = text_of(response, "name");
    let slot = response.get("response");
    let mut content = Vec::new();
    let mut is_error = false;
    match slot.map(|slot| (slot, words_of(slot))) {
        Some((_, Some((key, text)))) => {
            is_error = key == "error";
            lifter.text(text, None, TextOwner::Foreign, &mut content);
        }
        Some((slot, None)) if slot.entries().next().is_some() => {
            lifter.json(slot, &mut content);
        }
        Some((_, None)) | None => {}
    }
    for medium in response.get("parts").into_iter().flat_map(Value::items) {
        let node = Some(medium.id());
        let read = either(medium, "inlineData", "inline_data")
            .and_then(inline)
            .or_else(|| either(medium, "fileData", "file_data").and_then(stored));
        content.push(match read {
            Some(media) => lifter.media(media, node),
            None => Part::Opaque(Opaque { node }),
        });
    }
    Part::Result(ToolResult {
        call_id: ids.result(response.get("id").and_then(|id| id.str()), &name),
        name: Some(name).filter(|name| !name.is_empty()),
        is_error,
        content,
        kind: CallKind::Function,
        bounds: Bounds::default(),
        content_changed: false,
        renamed: false,
        node: Some(part.id()),
        slot: slot.map(|slot| slot.id()),
    })
}

/// Returns the text of a response that is only text, and the name of its member.
fn words_of<'d, 'a>(response: Value<'d, 'a>) -> Option<(&'static str, Value<'d, 'a>)> {
    let mut entries = response.entries();
    let (key, value) = entries.next()?;
    let is_alone = entries.next().is_none() && value.kind() == Kind::String;
    let name = ["output", "result", "content", "error"].into_iter().find(|name| key.is(name))?;
    is_alone.then_some((name, value))
}

fn kind_of(declared: &str) -> Option<MediaKind> {
    match declared.split('/').next()? {
        "image" => Some(MediaKind::Image),
        "audio" => Some(MediaKind::Audio),
        "application" | "text" => Some(MediaKind::Document),
        _ => None,
    }
}

fn inline<'a>(blob: Value<'_, 'a>) -> Option<Media<'a>> {
    let data = blob.get("data").filter(|data| data.kind() == Kind::String)?;
    let declared = either(blob, "mimeType", "mime_type").and_then(|label| label.str());
    let label = declared.as_ref().map(|label| label.decode().to_ascii_lowercase());
    // Video and other types are left to the service.
    let kind = label.as_deref().map_or(Some(MediaKind::Image), kind_of);
    let mut media = base64_medium(data, declared.as_ref(), kind.unwrap_or(MediaKind::Image));
    // The service's own SDK writes the URL-safe alphabet.
    let is_labeled =
        label.as_deref().is_none_or(|label| is_type(label) && proper_name(label) == label);
    if media.found == Found::Mended && is_labeled && is_proto3_base64(data) {
        media.found = Found::Typed;
    }
    if label.as_deref().is_some_and(says_film_or_sound) {
        return (kind == Some(MediaKind::Audio)).then_some(media);
    }
    match (kind, sniff_kind(&media.header())) {
        (Some(said), Some(is)) if said != is && is == MediaKind::Image => media.kind = is,
        (None, Some(is)) => media.kind = is,
        (None, None) => return None,
        (Some(_), _) => {}
    }
    media.name = either(blob, "displayName", "display_name").and_then(|name| name.str());
    Some(media)
}

/// Returns `true` if a string is base64 as proto3 JSON takes it: in either alphabet, with or
/// without padding. The JSON mapping of protocol buffers says so (read in November 2026).
fn is_proto3_base64(data: Value<'_, '_>) -> bool {
    let Some(text) = data.str() else { return false };
    let text = text.decode();
    let bare = text.trim_end_matches('=');
    let is_padded = text.len() == bare.len() || text.len().is_multiple_of(4);
    let is_of = |others: [u8; 2]| {
        bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
    };
    is_padded
        && text.len() - bare.len() <= 2
        && bare.len() % 4 != 1
        && (is_of([b'-', b'_']) || is_of([b'+', b'/']))
}

/// Returns the resolution of a part as the `detail` that other wires have.
pub(super) fn resolution<'a>(part: Value<'_, 'a>) -> Option<Str<'a>> {
    let level = either(part, "mediaResolution", "media_resolution")?.get("level")?.str()?;
    level_of(&level).map(|detail| Str::plain(detail.name()))
}

/// Reads a file that the service stores, or fetches by itself.
fn stored<'a>(file: Value<'_, 'a>) -> Option<Media<'a>> {
    let uri = either(file, "fileUri", "file_uri")?;
    let declared = either(file, "mimeType", "mime_type").and_then(|label| label.str());
    let label = declared.as_ref().map(|label| label.decode().to_ascii_lowercase());
    let kind = label.as_deref().map_or(Some(MediaKind::Document), kind_of)?;
    let text = uri.str()?;
    let source = if is_reference(&text) { Source::Url(text) } else { Source::File(text) };
    Some(medium(kind, source, declared, Found::Typed, uri.id()))
}
