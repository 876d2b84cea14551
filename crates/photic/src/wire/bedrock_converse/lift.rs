//! Reads a `Converse` body into a transcript.

use crate::json::{Kind, Str, Value};
use crate::lift::{Draft, Lifter, TextOwner, audio_type, base64_medium, medium, text_of};
use crate::media::{Found, Media, MediaKind, Source, sniff_kind};
use crate::transcript::{
    Arguments, Bounds, Call, CallKind, Home, Message, Nested, Opaque, Part, Role, ToolResult,
};

/// Reads a request body.
pub(super) fn lift<'d, 'a>(lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a> {
    let mut messages = Vec::new();
    if let Some(system) = root.get("system").filter(|system| system.kind() == Kind::Array) {
        let message = read_turn(lifter, system, Some(system), Role::System);
        messages.push(Message { home: Home::Field, ..message });
    }
    let list = root.get("messages").filter(|list| list.kind() == Kind::Array);
    for turn in list.into_iter().flat_map(Value::items) {
        let role = match text_of(turn, "role").decode().as_ref() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Unknown,
        };
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
    let mut parts = Vec::new();
    if role == Role::Unknown {
        parts.push(Part::Opaque(Opaque { node: Some(turn.id()) }));
    } else {
        for block in content.into_iter().flat_map(Value::items) {
            read_block(lifter, block, TextOwner::of(role), Inside::Turn, &mut parts);
        }
    }
    let slot = content.map(|content| content.id());
    Message { node: Some(turn.id()), slot, ..Message::new(role, parts) }
}

/// The container of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Turn,
    Result,
}

fn read_block<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    words: TextOwner,
    inside: Inside,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(block.id());
    let Some((key, inner)) = block.entries().next() else {
        parts.push(Part::Opaque(Opaque { node }));
        return;
    };
    let medium = |media: Option<Media<'a>>, lifter: &mut Lifter<'d, 'a>| match media {
        Some(media) => lifter.media(media, node),
        None => lifter.unknown_part(block),
    };
    let read = match (&*key.decode(), inside) {
        ("text", _) if inner.kind() == Kind::String => {
            return lifter.text(inner, node, words, parts);
        }
        ("json", Inside::Result) => return lifter.json(inner, parts),
        ("image", _) => medium(image(inner), lifter),
        ("audio", _) => medium(audio(inner), lifter),
        ("document", _) => match document_blocks(inner) {
            Some(list) => nested(lifter, block, list, words),
            None => medium(document(inner), lifter),
        },
        ("cachePoint", _) => Part::Mark(Opaque { node }),
        ("reasoningContent", _) => Part::Thinking(Opaque { node }),
        ("toolUse", Inside::Turn) => Part::Call(Call {
            id: text_of(inner, "toolUseId"),
            name: text_of(inner, "name"),
            namespace: None,
            arguments: inner
                .get("input")
                .map_or(Arguments::Json(b"{}"), |json| Arguments::Json(json.raw())),
            kind: CallKind::Function,
            renamed: false,
            node,
        }),
        ("toolResult", Inside::Turn) => read_result(lifter, block, inner),
        _ => lifter.unknown_part(block),
    };
    parts.push(read);
}

fn read_result<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    result: Value<'d, 'a>,
) -> Part<'a> {
    let slot = result.get("content");
    let mut content = Vec::new();
    for inner in slot.into_iter().flat_map(Value::items) {
        read_block(lifter, inner, TextOwner::Foreign, Inside::Result, &mut content);
    }
    Part::Result(ToolResult {
        call_id: text_of(result, "toolUseId"),
        name: None,
        is_error: result.get("status").is_some_and(|status| status.is("error")),
        content,
        kind: CallKind::Function,
        bounds: Bounds::default(),
        content_changed: false,
        renamed: false,
        node: Some(block.id()),
        slot: slot.map(|slot| slot.id()),
    })
}

fn image<'a>(image: Value<'_, 'a>) -> Option<Media<'a>> {
    let format = image.get("format").and_then(|format| format.str());
    let declared = format.map(|format| Str::plain(format!("image/{}", format.decode())));
    from_source(image.get("source")?, declared, MediaKind::Image)
}

fn audio<'a>(audio: Value<'_, 'a>) -> Option<Media<'a>> {
    let declared = audio_type(&text_of(audio, "format").decode());
    from_source(audio.get("source")?, Some(declared), MediaKind::Audio)
}

fn document<'a>(document: Value<'_, 'a>) -> Option<Media<'a>> {
    let declared = document_type(&text_of(document, "format").decode()).map(Str::plain);
    let source = document.get("source")?;
    let mut media = match source.get("text") {
        Some(text) => {
            let kind = MediaKind::Document;
            medium(kind, Source::Text(text.str()?), declared, Found::Typed, text.id())
        }
        None => from_source(source, declared, MediaKind::Document)?,
    };
    if sniff_kind(&media.header()) == Some(MediaKind::Image) {
        media.kind = MediaKind::Image;
        media.found = Found::Misfiled;
    }
    media.name = document.get("name").and_then(|name| name.str());
    Some(media)
}

fn from_source<'a>(
    source: Value<'_, 'a>,
    declared: Option<Str<'a>>,
    kind: MediaKind,
) -> Option<Media<'a>> {
    if let Some(bytes) = source.get("bytes").filter(|bytes| bytes.kind() == Kind::String) {
        return Some(base64_medium(bytes, declared.as_ref(), kind));
    }
    let uri = source.get("s3Location")?.get("uri")?;
    Some(medium(kind, Source::File(uri.str()?), declared, Found::Typed, uri.id()))
}

/// Returns the blocks of a document that is made of blocks.
fn document_blocks<'d, 'a>(document: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    document.get("source")?.get("content").filter(|list| list.kind() == Kind::Array)
}

fn nested<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    list: Value<'d, 'a>,
    words: TextOwner,
) -> Part<'a> {
    let mut parts = Vec::new();
    for inner in list.items() {
        match inner.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => lifter.text(text, Some(inner.id()), words, &mut parts),
            None => parts.push(Part::Opaque(Opaque { node: Some(inner.id()) })),
        }
    }
    let path = &["document", "source", "content"];
    Part::Nested(Nested { parts, path, words_only: true, changed: false, node: Some(block.id()) })
}

/// The formats of documents, and their media types.
pub(super) const DOCUMENTS: [(&str, &str); 9] = [
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("md", "text/markdown"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

fn document_type(format: &str) -> Option<&'static str> {
    DOCUMENTS.iter().find(|(word, _)| *word == format).map(|(_, name)| *name)
}
