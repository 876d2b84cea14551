//! Reads messages of pydantic-ai into a transcript: requests and responses made of parts, as its
//! type adapter dumps them.

use super::{Answer, answer, first, list, medium_or_opaque, say, text_of};
use crate::json::{Kind, Value};
use crate::lift::{Draft, Lifter, TextOwner};
use crate::transcript::{Arguments, Call, CallKind, Opaque, Part, Role};

pub(super) fn lift<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    // The instructions of the newest request hold for the whole conversation.
    if let Some(text) = list(root).filter_map(|message| first(message, &["instructions"])).last() {
        let mut parts = Vec::new();
        lifter.text(text, Some(text.id()), TextOwner::Said, &mut parts);
        say(draft, Role::System, text.id(), parts);
    }
    for message in list(root) {
        if message.get("kind").is_some_and(|kind| kind.is("response")) {
            response(lifter, message, draft);
        } else {
            for part in message.get("parts").into_iter().flat_map(Value::items) {
                request_part(lifter, part, draft);
            }
        }
    }
}

fn request_part<'d, 'a>(lifter: &mut Lifter<'d, 'a>, part: Value<'d, 'a>, draft: &mut Draft<'a>) {
    let mut parts = Vec::new();
    let kind = text_of(part, &["part_kind"]).decode();
    if let Some(content) = first(part, &["content"]) {
        read_content(lifter, content, &mut parts);
    }
    let has_call = first(part, &["tool_name"]).is_some();
    let is_answer = kind.ends_with("tool-return") || (kind == "retry-prompt" && has_call);
    match &*kind {
        _ if is_answer => answered(part, parts, draft),
        "system-prompt" => say(draft, Role::System, part.id(), parts),
        "user-prompt" | "retry-prompt" | "retry-feedback" => {
            say(draft, Role::User, part.id(), parts);
        }
        _ => {
            let unread = Part::Opaque(Opaque { node: Some(part.id()) });
            say(draft, Role::Unknown, part.id(), vec![unread]);
        }
    }
}

fn answered<'a>(part: Value<'_, 'a>, content: Vec<Part<'a>>, draft: &mut Draft<'a>) {
    let is_good = first(part, &["outcome"]).is_none_or(|outcome| outcome.is("success"));
    let is_error = !is_good || part.get("part_kind").is_some_and(|kind| kind.is("retry-prompt"));
    let (call_id, name) = (text_of(part, &["tool_call_id"]), text_of(part, &["tool_name"]));
    answer(draft, Answer { call_id, name, is_error, at: part }, content);
}

fn response<'d, 'a>(lifter: &mut Lifter<'d, 'a>, message: Value<'d, 'a>, draft: &mut Draft<'a>) {
    let mut parts = Vec::new();
    for part in message.get("parts").into_iter().flat_map(Value::items) {
        let node = Some(part.id());
        let kind = text_of(part, &["part_kind"]).decode();
        match &*kind {
            "text" => {
                if let Some(text) = part.get("content") {
                    lifter.text(text, node, TextOwner::Own, &mut parts);
                }
            }
            "thinking" => parts.push(Part::Thinking(Opaque { node })),
            // A tool that the provider ran answers within the response.
            kind if kind.ends_with("tool-return") => {
                let mut content = Vec::new();
                if let Some(value) = first(part, &["content"]) {
                    read_content(lifter, value, &mut content);
                }
                say(draft, Role::Assistant, message.id(), std::mem::take(&mut parts));
                answered(part, content, draft);
            }
            kind if kind.ends_with("tool-call") => parts.push(read_call(part)),
            "file" => parts.push(match part.get("content") {
                Some(file) => medium_or_opaque(lifter, file),
                None => Part::Opaque(Opaque { node }),
            }),
            _ => parts.push(Part::Opaque(Opaque { node })),
        }
    }
    say(draft, Role::Assistant, message.id(), parts);
}

fn read_call<'a>(part: Value<'_, 'a>) -> Part<'a> {
    Part::Call(Call {
        id: text_of(part, &["tool_call_id"]),
        name: text_of(part, &["tool_name"]),
        namespace: None,
        arguments: first(part, &["args"]).map_or(Arguments::Json(b"{}"), |args| {
            args.str().map_or_else(|| Arguments::Json(args.raw()), Arguments::Text)
        }),
        kind: CallKind::Function,
        renamed: false,
        node: Some(part.id()),
    })
}

/// Reads text, media, or a list of both. Any other JSON is the return value of a tool.
fn read_content<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    content: Value<'d, 'a>,
    parts: &mut Vec<Part<'a>>,
) {
    if content.is_list() && content.items().any(is_medium) {
        content.items().for_each(|item| read_item(lifter, item, parts));
    } else {
        read_item(lifter, content, parts);
    }
}

fn read_item<'d, 'a>(lifter: &mut Lifter<'d, 'a>, item: Value<'d, 'a>, parts: &mut Vec<Part<'a>>) {
    if item.kind() == Kind::String {
        lifter.text(item, Some(item.id()), TextOwner::Foreign, parts);
    } else if item.get("kind").is_some_and(|kind| kind.is("text-content")) {
        if let Some(text) = item.get("content") {
            lifter.text(text, Some(item.id()), TextOwner::Foreign, parts);
        }
    } else if item.get("kind").is_some_and(|kind| kind.is("cache-point")) {
        // A breakpoint for the provider's cache: it has no content.
    } else if is_medium(item) {
        parts.push(medium_or_opaque(lifter, item));
    } else {
        lifter.json(item, parts);
    }
}

fn is_medium(item: Value<'_, '_>) -> bool {
    let kind = item.get("kind").and_then(|kind| kind.str());
    let kind = kind.as_ref().map(crate::json::Str::decode).unwrap_or_default();
    kind.ends_with("-url") || matches!(&*kind, "binary" | "uploaded-file")
}
