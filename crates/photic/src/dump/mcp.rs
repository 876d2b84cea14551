//! Reads data of MCP servers into a transcript. The result of a tool becomes the answer to an
//! unknown call; the messages of a prompt are read as they are.

use super::{Answer, answer, first, list, medium_or_opaque, say, text_of};
use crate::json::{Kind, Str, Value};
use crate::lift::{Draft, Lifter, TextOwner};
use crate::rescue::Structured;
use crate::transcript::{Part, Role, Text};

/// The members of results and prompts, in the spelling of the wire and of the SDK for Python.
const MEMBERS: [&str; 11] = [
    "content",
    "messages",
    "description",
    "structuredContent",
    "structured_content",
    "isError",
    "is_error",
    "resultType",
    "result_type",
    "_meta",
    "meta",
];
const TYPES: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];

/// Returns a result without the envelope it may have come in.
fn unwrapped<'d, 'a>(root: Value<'d, 'a>) -> Value<'d, 'a> {
    first(root, &["result"]).filter(|_| root.get("jsonrpc").is_some()).unwrap_or(root)
}

pub(super) fn is_result(root: Value<'_, '_>) -> bool {
    let result = unwrapped(root);
    let parts = result.get("content").filter(|list| list.is_list());
    is_plain(result)
        && parts.is_some_and(|list| list.items().next().is_some() && list.items().all(is_part))
}

pub(super) fn is_prompt(root: Value<'_, '_>) -> bool {
    let prompt = unwrapped(root);
    is_plain(prompt) && list(prompt).any(|message| message.get("content").is_some_and(is_part))
}

fn is_plain(value: Value<'_, '_>) -> bool {
    value.kind() == Kind::Object
        && value.entries().all(|(key, _)| MEMBERS.contains(&&*key.decode()))
}

fn is_part(part: Value<'_, '_>) -> bool {
    part.get("type")
        .and_then(|name| name.str())
        .is_some_and(|name| TYPES.contains(&&*name.decode()))
}

pub(super) fn lift<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    let result = unwrapped(root);
    for message in list(result) {
        let is_model = message.get("role").is_some_and(|role| role.is("assistant"));
        let role = if is_model { Role::Assistant } else { Role::User };
        let mut parts = Vec::new();
        read_content(lifter, message.get("content"), TextOwner::of(role), &mut parts);
        say(draft, role, message.id(), parts);
    }
    let Some(content) = result.get("content") else { return };
    let mut parts = Vec::new();
    read_content(lifter, Some(content), TextOwner::Foreign, &mut parts);
    if let Some(structured) = first(result, &["structuredContent", "structured_content"]) {
        let meant = Structured::of(structured);
        let mut texts = content.items().filter_map(|part| part.get("text")?.str());
        if !texts.any(|text| meant.is_said_by(&text)) {
            lifter.json(structured, &mut parts);
        }
    }
    let is_error =
        first(result, &["isError", "is_error"]).and_then(|flag| flag.bool()) == Some(true);
    let (call_id, name) = (Str::plain("call_mcp"), Str::plain(""));
    answer(draft, Answer { call_id, name, is_error, at: result }, parts);
}

fn read_content<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    content: Option<Value<'d, 'a>>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    match content.map(|content| (content, content.is_list())) {
        Some((list, true)) => list.items().for_each(|part| read_part(lifter, part, words, parts)),
        Some((part, false)) => read_part(lifter, part, words, parts),
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
    let words_of =
        |part: Value<'d, 'a>| part.get("text").filter(|text| text.kind() == Kind::String);
    match text_of(part, &["type"]).decode().as_ref() {
        "text" => match words_of(part) {
            Some(text) => lifter.text(text, node, words, parts),
            None => parts.push(medium_or_opaque(lifter, part)),
        },
        "resource" => match part.get("resource").and_then(words_of) {
            Some(text) => lifter.text(text, node, words, parts),
            None => parts.push(medium_or_opaque(lifter, part)),
        },
        // The name of something that was not sent; the model may ask for it.
        "resource_link" => {
            let text = Str::Plain(String::from_utf8_lossy(part.raw()));
            parts.push(Part::Text(Text { text, node }));
        }
        _ => parts.push(medium_or_opaque(lifter, part)),
    }
}
