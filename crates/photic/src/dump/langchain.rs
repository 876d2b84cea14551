//! Reads messages of `LangChain` into a transcript, in all the ways in which they are dumped:
//! `messages_to_dict` and `model_dump`, `dumps` and its counterpart in JavaScript (`lc`), with
//! content blocks of the old standard (`source_type`), of the new one, and of the providers.

use std::collections::BTreeSet;

use super::{Answer, answer, first, list, medium_or_opaque, say, text_of};
use crate::json::{Kind, Str, Value};
use crate::lift::{Draft, Lifter, TextOwner};
use crate::transcript::{Arguments, Call, CallKind, Opaque, Part, Role, Text};

/// The value of `type`, the name of the class, and the role.
const ROLES: [(&str, &str, Role); 6] = [
    ("human", "HumanMessage", Role::User),
    ("ai", "AIMessage", Role::Assistant),
    ("system", "SystemMessage", Role::System),
    ("tool", "ToolMessage", Role::Tool),
    ("function", "FunctionMessage", Role::Tool),
    ("chat", "ChatMessage", Role::Unknown),
];

pub(super) fn lift<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    for message in messages(root) {
        read_message(lifter, message, draft);
    }
}

/// Returns the messages of a list, a state, or a prompt that was dumped as an object.
pub(super) fn messages<'d, 'a>(root: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    list(root.get("kwargs").unwrap_or(root))
}

pub(super) fn is_message(message: Value<'_, '_>) -> bool {
    let inner = fields(message);
    let has_content = ["content", "content_blocks"].iter().any(|name| inner.get(name).is_some());
    has_content && role(message).is_some() && message.get("role").is_none()
}

/// Returns the object that holds the content of the message.
fn fields<'d, 'a>(message: Value<'d, 'a>) -> Value<'d, 'a> {
    let held = |name: &&str| message.get(name).filter(|held| held.kind() == Kind::Object);
    ["kwargs", "data"].iter().find_map(held).unwrap_or(message)
}

fn role(message: Value<'_, '_>) -> Option<Role> {
    // `lc`: the last step of the id is the class, whose chunks are messages too.
    let class = message.get("id").and_then(|id| id.items().last()).and_then(|name| name.str());
    let class = class.as_ref().map(Str::decode).unwrap_or_default();
    let class = class.strip_suffix("Chunk").unwrap_or(&class);
    let kind = message.get("type")?.str()?.decode();
    let kind = kind.strip_suffix("MessageChunk").map_or(kind.to_string(), str::to_lowercase);
    let named = ROLES.iter().find(|(name, class_name, _)| {
        if message.get("lc").is_some() { class == *class_name } else { kind == *name }
    })?;
    Some(match named.2 {
        Role::Unknown => match text_of(fields(message), &["role"]).decode().as_ref() {
            "system" => Role::System,
            "developer" => Role::Developer,
            "assistant" => Role::Assistant,
            _ => Role::User,
        },
        role => role,
    })
}

fn read_message<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    message: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    let inner = fields(message);
    let Some(role) = role(message) else {
        let unread = Part::Opaque(Opaque { node: Some(message.id()) });
        return say(draft, Role::Unknown, message.id(), vec![unread]);
    };
    let mut parts = Vec::new();
    // JavaScript leaves `content` out if the blocks are of the new standard.
    let content = first(inner, &["content"]).or_else(|| first(inner, &["content_blocks"]));
    match content.map(|content| (content, content.kind())) {
        Some((list, Kind::Array)) => {
            for block in list.items() {
                read_block(lifter, block, TextOwner::of(role), &mut parts);
            }
        }
        // An answer that holds only calls has an empty text.
        Some((text, Kind::String)) if role == Role::Assistant && text.is("") => {}
        Some((value, _)) => lifter.anything(value, TextOwner::of(role), &mut parts),
        None => {}
    }
    match role {
        Role::Tool => {
            let call_id = text_of(inner, &["tool_call_id", "name"]);
            let is_error = inner.get("status").is_some_and(|status| status.is("error"));
            let name = text_of(inner, &["name"]);
            answer(draft, Answer { call_id, name, is_error, at: message }, parts);
        }
        Role::Assistant => {
            calls(inner, &mut parts);
            say(draft, role, message.id(), parts);
        }
        Role::System | Role::Developer | Role::User | Role::Unknown => {
            say(draft, role, message.id(), parts);
        }
    }
}

/// Adds the calls beside the content, except those that are also in it.
fn calls<'a>(inner: Value<'_, 'a>, parts: &mut Vec<Part<'a>>) {
    let own = inner.get("tool_calls").filter(|list| list.items().next().is_some());
    let raw = || inner.get("additional_kwargs")?.get("tool_calls");
    let in_content = parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call.id.decode().into_owned()),
        _ => None,
    });
    let known: BTreeSet<String> = in_content.collect();
    for call in own.or_else(raw).into_iter().flat_map(Value::items) {
        let function = call.get("function").unwrap_or(call);
        if !known.contains(&*text_of(call, &["id"]).decode()) {
            parts.push(read_call(call, function, &["args", "arguments"]));
        }
    }
}

fn read_call<'a>(call: Value<'_, 'a>, function: Value<'_, 'a>, arguments: &[&str]) -> Part<'a> {
    Part::Call(Call {
        id: text_of(call, &["id"]),
        name: text_of(function, &["name"]),
        namespace: None,
        arguments: first(function, arguments).map_or(Arguments::Json(b"{}"), |json| {
            json.str().map_or_else(|| Arguments::Json(json.raw()), Arguments::Text)
        }),
        kind: CallKind::Function,
        renamed: false,
        node: Some(call.id()),
    })
}

fn read_block<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    block: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(block.id());
    if block.kind() == Kind::String {
        return lifter.text(block, node, words, parts);
    }
    let read = match text_of(block, &["type"]).decode().as_ref() {
        "text" | "input_text" | "output_text" => {
            match block.get("text").filter(|text| text.kind() == Kind::String) {
                Some(text) => return lifter.text(text, node, words, parts),
                None => Part::Opaque(Opaque { node }),
            }
        }
        "refusal" => Part::Refusal(Text { text: text_of(block, &["refusal"]), node }),
        "reasoning" | "thinking" | "redacted_thinking" => Part::Thinking(Opaque { node }),
        "tool_call" => read_call(block, block, &["args"]),
        "tool_use" => read_call(block, block, &["input"]),
        _ => medium_or_opaque(lifter, block),
    };
    parts.push(read);
}
