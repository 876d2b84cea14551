//! `POST /v1/responses`, as a strict host of it reads a request.
//!
//! This module owns typed items, parts per role, and the pairing of calls with outputs by
//! `call_id`. It must never guess at state that the service keeps: with a stored conversation,
//! pairing is not checked.

use serde_json::{Map, Value};

use super::content;
use super::seen::{Slot, Source, ToolResult};
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 33] = [
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "image",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
/// Items that the model wrote or the service keeps. They are known, and their content is not
/// checked.
const OPAQUE: [&str; 23] = [
    "reasoning",
    "item_reference",
    "compaction",
    "compaction_trigger",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "tool_search_call",
    "tool_search_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "additional_tools",
    "program",
];
/// A member that Codex writes into its items and the service accepts (captured from 0.169.0).
const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";
const PART: [&str; 13] = [
    "type",
    "text",
    "refusal",
    "image_url",
    "file_id",
    "file_data",
    "file_url",
    "filename",
    "detail",
    "annotations",
    "logprobs",
    "input_audio",
    "prompt_cache_breakpoint",
];

/// The calls and outputs found so far, by kind and id.
#[derive(Default)]
struct Pairs {
    waiting: Vec<(&'static str, String, String)>,
    answered: Vec<(&'static str, String)>,
    stored: bool,
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    w.fields(body, "", &BODY);
    content::breakpoints(w, body, "input");
    let present = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    if let Some(Value::String(text)) = body.get("instructions") {
        w.text(&PartOrigin::new(Slot::System, "/instructions"), text);
    }
    let mut pairs = Pairs {
        stored: present("previous_response_id") || present("conversation"),
        ..Pairs::default()
    };
    match body.get("input") {
        Some(Value::String(text)) => w.text(&PartOrigin::new(Slot::User, "/input"), text),
        Some(Value::Array(items)) => {
            let reference = |item: &Value| item["type"] == "item_reference";
            pairs.stored |= items.iter().any(reference);
            for (index, item) in items.iter().enumerate() {
                let at = format!("/input/{index}");
                if let Some(item) = w.object(Some(item), &at) {
                    self::item(w, &mut pairs, item, &at);
                }
            }
        }
        None | Some(Value::Null) if pairs.stored || present("prompt") => {}
        None | Some(Value::Null) => {
            w.violate("field_missing", "", "Missing required parameter: 'input'.");
        }
        Some(_) => {
            let text = "Invalid type for 'input': expected one of a string or array of objects.";
            w.violate("field_type", "/input", text);
        }
    }
    if !pairs.stored {
        for (_, id, at) in pairs.waiting {
            let text = format!("No tool output found for function call {id}.");
            w.violate("call_unanswered", &at, text);
        }
    }
}

fn item(w: &mut Witness<'_>, pairs: &mut Pairs, item: &Map<String, Value>, at: &str) {
    let kind = match item.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        None if item.contains_key("role") => "message",
        _ => {
            w.violate("field_missing", at, "Missing required parameter: 'type'.");
            return;
        }
    };
    match kind {
        "message" => message(w, item, at),
        "function_call" => call(w, pairs, item, at, ("function_call", "arguments")),
        "custom_tool_call" => call(w, pairs, item, at, ("custom_tool_call", "input")),
        "function_call_output" => output(w, pairs, item, at, "function_call"),
        "custom_tool_call_output" => output(w, pairs, item, at, "custom_tool_call"),
        "computer_call_output" => screenshot(w, item, at),
        _ if OPAQUE.contains(&kind) => {}
        _ => w.unknown_part(at, kind),
    }
}

fn message(w: &mut Witness<'_>, message: &Map<String, Value>, at: &str) {
    let known = ["type", "role", "content", "id", "status", "phase", PASSTHROUGH];
    w.fields(message, at, &known);
    let Some(role) = w.string(message, "role", at) else { return };
    let slot = match role {
        "user" => Slot::User,
        "assistant" => Slot::Assistant,
        "system" => Slot::System,
        "developer" => Slot::Developer,
        _ => {
            w.violate("role_unknown", at, format!("Invalid value: '{role}'."));
            return;
        }
    };
    parts(w, &PartOrigin::new(slot, format!("{at}/content")), message.get("content"));
}

fn call(
    w: &mut Witness<'_>,
    pairs: &mut Pairs,
    item: &Map<String, Value>,
    at: &str,
    (kind, key): (&'static str, &str),
) {
    let known =
        ["type", "id", "call_id", "name", "namespace", "status", "caller", key, PASSTHROUGH];
    w.fields(item, at, &known);
    let (id, name) = (w.string(item, "call_id", at), w.string(item, "name", at));
    let (Some(id), Some(name), Some(arguments)) = (id, name, w.string(item, key, at)) else {
        return;
    };
    if id.is_empty() {
        w.violate("field_missing", at, "Invalid 'call_id': empty string.");
    }
    if pairs.waiting.iter().any(|(k, other, _)| (*k, other.as_str()) == (kind, id)) {
        w.violate("call_id_duplicate", at, format!("Duplicate call_id '{id}'."));
    }
    pairs.waiting.push((kind, id.to_owned(), at.to_owned()));
    w.call(at, id, name, arguments.to_owned());
}

fn output(
    w: &mut Witness<'_>,
    pairs: &mut Pairs,
    item: &Map<String, Value>,
    at: &str,
    kind: &'static str,
) {
    let known = ["type", "id", "call_id", "output", "status", "name", "caller", PASSTHROUGH];
    w.fields(item, at, &known);
    let Some(id) = w.string(item, "call_id", at) else { return };
    let same = |(k, other): (&'static str, &str)| (k, other) == (kind, id);
    if let Some(index) = pairs.waiting.iter().position(|(k, other, _)| same((k, other))) {
        let (kind, id, _) = pairs.waiting.remove(index);
        pairs.answered.push((kind, id));
    } else if pairs.answered.iter().any(|(k, other)| same((k, other))) {
        w.violate("result_duplicate", at, format!("Duplicate output for call_id {id}."));
    } else if !pairs.stored {
        let text = format!("No tool call found for function call output with call_id {id}.");
        w.violate("result_orphan", at, text);
    } else {
        pairs.answered.push((kind, id.to_owned()));
    }
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    // Code reads the outputs of the calls that it made; the model does not.
    let caller = item.get("caller").filter(|caller| !caller.is_null());
    w.unread = caller.is_some_and(|caller| caller["type"] != "direct");
    parts(w, &PartOrigin::result(id, format!("{at}/output")), item.get("output"));
    w.unread = false;
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let (text, images) = (text.join("\n"), w.seen.images.len() - images);
    let (call_id, pointer) = (id.to_owned(), at.to_owned());
    w.seen.results.push(ToolResult { call_id, text, is_error: false, images, pointer });
}

fn screenshot(w: &mut Witness<'_>, item: &Map<String, Value>, at: &str) {
    let Some(id) = w.string(item, "call_id", at) else { return };
    let place = PartOrigin::result(id, format!("{at}/output"));
    w.content();
    if let Some(output) = w.object(item.get("output"), &place.at) {
        w.one_of(output, "type", &place.at, &["computer_screenshot"]);
        image(w, &place, output);
    }
}

/// Reads the parts of a message or of an output: a string, or a list.
fn parts(w: &mut Witness<'_>, place: &PartOrigin, value: Option<&Value>) {
    w.content();
    match value {
        Some(Value::String(text)) => w.text(place, text),
        Some(Value::Array(parts)) => {
            if parts.is_empty() {
                let code = match place.slot {
                    Slot::ToolResult => "tool_content_empty",
                    _ => "content_empty",
                };
                w.violate(code, &place.at, "Invalid value: empty array.");
            }
            for (index, part) in parts.iter().enumerate() {
                self::part(w, &place.down(index), part);
            }
        }
        None | Some(Value::Null) => {
            w.violate("field_missing", &place.at, "Missing required parameter.");
        }
        Some(_) => {
            let text = "Invalid type: expected one of a string or array of objects.";
            w.violate("field_type", &place.at, text);
        }
    }
}

fn part(w: &mut Witness<'_>, place: &PartOrigin, part: &Value) {
    let at = place.at.clone();
    let Some(part) = w.object(Some(part), &at) else { return };
    let Some(kind) = w.string(part, "type", &at) else { return };
    let written = matches!(kind, "output_text" | "refusal");
    let read = matches!(kind, "input_text" | "input_image" | "input_file" | "input_audio");
    let assistant = place.slot == Slot::Assistant;
    if (written && !assistant) || (read && assistant) {
        let code = if kind == "input_image" { "image_wrong_role" } else { "part_wrong_role" };
        let known = if assistant {
            "'output_text' and 'refusal'"
        } else {
            "'input_text', 'input_image' and 'input_file'"
        };
        let text = format!("Invalid value: '{kind}'. Supported values are: {known}.");
        w.violate(code, &at, text);
    }
    match kind {
        "input_text" | "output_text" => {
            if let Some(text) = w.string(part, "text", &at) {
                w.text(&place.down("text"), text);
            }
        }
        "refusal" => {
            if let Some(text) = w.string(part, "refusal", &at) {
                w.text(&place.down("refusal"), text);
            }
        }
        "input_image" => image(w, place, part),
        "input_file" => content::file(w, place, part),
        "input_audio" => content::audio(w, place, part),
        _ => {
            w.unknown_part(&at, kind);
            return;
        }
    }
    w.fields(part, &at, &PART);
}

fn image(w: &mut Witness<'_>, place: &PartOrigin, part: &Map<String, Value>) {
    let detail = content::detail(w, part, &place.at);
    match (part.get("image_url"), part.get("file_id")) {
        (Some(Value::String(url)), None | Some(Value::Null)) => {
            content::image_url(w, place, url, detail);
        }
        (None | Some(Value::Null), Some(Value::String(id))) => {
            w.remote(place, Source::File(id.clone()), detail);
        }
        (None | Some(Value::Null), None | Some(Value::Null)) => {
            w.violate("field_missing", &place.at, "Missing required parameter: 'image_url'.");
        }
        (Some(Value::String(_)), Some(_)) => {
            let text = "Mutually exclusive parameters: 'image_url' and 'file_id'.";
            w.violate("value_unknown", &place.at, text);
        }
        _ => {
            let text = "Invalid type for 'image_url': expected an image URL, but got an object.";
            w.violate("field_type", &format!("{}/image_url", place.at), text);
        }
    }
}
