//! Reads messages of the AI SDK into a transcript. They are those that applications store
//! (`ModelMessage`), and those that the SDK passes to its providers (`LanguageModelV2`, `V3` and
//! `V4` prompts), whose tool results differ in their parts.

use super::{Answer, answer, first, list, medium_or_opaque, say, text_of};
use crate::json::{Kind, Value};
use crate::lift::{Draft, Lifter, TextOwner};
use crate::transcript::{Arguments, Call, CallKind, Opaque, Part, Role};

pub(super) fn lift<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
    draft: &mut Draft<'a>,
) {
    settings(root, draft);
    if let Some(system) = first(root, &["system", "instructions"]) {
        read_message(lifter, system, system, Role::System, draft);
    }
    for message in list(root) {
        let role = match text_of(message, &["role"]).decode().as_ref() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::Unknown,
        };
        let content = message.get("content").unwrap_or(message);
        read_message(lifter, message, content, role, draft);
    }
}

fn read_message<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    message: Value<'d, 'a>,
    content: Value<'d, 'a>,
    role: Role,
    draft: &mut Draft<'a>,
) {
    let words = TextOwner::of(role);
    let mut parts = Vec::new();
    match content.kind() {
        _ if role == Role::Unknown => parts.push(Part::Opaque(Opaque { node: Some(message.id()) })),
        Kind::String => lifter.text(content, Some(content.id()), words, &mut parts),
        _ => {
            for part in content.items() {
                // Also in the assistant's own turn, if the provider ran the tool.
                if part.get("type").is_some_and(|name| name.is("tool-result")) {
                    say(draft, role, message.id(), std::mem::take(&mut parts));
                    read_result(lifter, part, draft);
                } else {
                    read_part(lifter, part, words, &mut parts);
                }
            }
        }
    }
    // A tool message holds results. Its other parts are decisions of people.
    let role = if role == Role::Tool { Role::Unknown } else { role };
    say(draft, role, message.id(), parts);
}

fn read_part<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    part: Value<'d, 'a>,
    words: TextOwner,
    parts: &mut Vec<Part<'a>>,
) {
    let node = Some(part.id());
    match text_of(part, &["type"]).decode().as_ref() {
        "text" => match part.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => lifter.text(text, node, words, parts),
            None => parts.push(Part::Opaque(Opaque { node })),
        },
        "reasoning" | "redacted-reasoning" => parts.push(Part::Thinking(Opaque { node })),
        "tool-call" => parts.push(Part::Call(Call {
            id: text_of(part, &["toolCallId"]),
            name: text_of(part, &["toolName"]),
            namespace: None,
            arguments: first(part, &["input", "args"]).map_or(Arguments::Json(b"{}"), |input| {
                input.str().map_or_else(|| Arguments::Json(input.raw()), Arguments::Text)
            }),
            kind: CallKind::Function,
            renamed: false,
            node,
        })),
        _ => parts.push(medium_or_opaque(lifter, part)),
    }
}

fn read_result<'d, 'a>(lifter: &mut Lifter<'d, 'a>, part: Value<'d, 'a>, draft: &mut Draft<'a>) {
    let mut content = Vec::new();
    let output = first(part, &["output"]);
    let kind = output.map(|output| text_of(output, &["type"]).decode()).unwrap_or_default();
    let value = output.and_then(|output| first(output, &["value", "reason"]));
    // Version 4 keeps the parts for the model beside the result for the program.
    let old = first(part, &["experimental_content", "content", "result"]);
    match (&*kind, value) {
        ("content", Some(list)) => read_list(lifter, list, &mut content),
        ("text" | "json" | "error-text" | "error-json" | "execution-denied", value) => {
            if let Some(value) = value {
                anything(lifter, value, &mut content);
            }
        }
        _ => match output.or(old) {
            Some(parts)
                if output.is_none()
                    && part.get("result").is_none_or(|result| result.id() != parts.id()) =>
            {
                read_list(lifter, parts, &mut content);
            }
            Some(value) => anything(lifter, value, &mut content),
            None => {}
        },
    }
    let is_error = kind.starts_with("error")
        || kind == "execution-denied"
        || part.get("isError").and_then(|flag| flag.bool()) == Some(true);
    let call_id = text_of(part, &["toolCallId"]);
    answer(
        draft,
        Answer { call_id, name: text_of(part, &["toolName"]), is_error, at: part },
        content,
    );
}

fn read_list<'d, 'a>(lifter: &mut Lifter<'d, 'a>, list: Value<'d, 'a>, parts: &mut Vec<Part<'a>>) {
    for part in list.items() {
        read_part(lifter, part, TextOwner::Foreign, parts);
    }
}

/// Reads a string as text, and other JSON as its source text, with the media found in it.
fn anything<'d, 'a>(lifter: &mut Lifter<'d, 'a>, value: Value<'d, 'a>, parts: &mut Vec<Part<'a>>) {
    match value.kind() {
        Kind::String => lifter.text(value, None, TextOwner::Foreign, parts),
        _ => lifter.json(value, parts),
    }
}

fn settings<'a>(root: Value<'_, 'a>, draft: &mut Draft<'a>) {
    let settings = &mut draft.settings;
    for (key, value) in root.entries().filter(|(_, value)| !value.is_null()) {
        match &*key.decode() {
            "messages" | "prompt" | "system" | "instructions" => {}
            "model" => settings.model = value.str(),
            "maxOutputTokens" | "maxTokens" => settings.limit_answer(&key, value),
            "temperature" => settings.share("temperature", value),
            "topP" => settings.share("top_p", value),
            "stopSequences" => settings.take_stops(value),
            _ => settings.lose(key, value),
        }
    }
}
