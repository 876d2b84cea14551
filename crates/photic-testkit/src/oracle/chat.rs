//! `POST /v1/chat/completions`, as a strict host of it reads a request.
//!
//! This module owns roles, parts per role, and the run of tool messages behind an assistant turn.
//! It must never accept a request that only some hosts accept: the switches of `Rules` do that.

use serde_json::{Map, Value};

use super::content;
use super::seen::{Slot, ToolResult};
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 38] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "image",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];
const MESSAGE: [&str; 9] = [
    "role",
    "content",
    "name",
    "refusal",
    "audio",
    "function_call",
    "tool_calls",
    "tool_call_id",
    "annotations",
];
const PART: [&str; 7] =
    ["type", "text", "refusal", "image_url", "input_audio", "file", "prompt_cache_breakpoint"];

/// Fields that `Rules::first_settings` refuses: they are newer than `max_tokens`.
const LATER: [&str; 2] = ["max_completion_tokens", "stream_options"];

/// The calls of the last assistant turn while its tool messages are being read.
#[derive(Default)]
struct Turn {
    at: String,
    waiting: Vec<String>,
    answered: Vec<String>,
    role: String,
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    w.fields(body, "", &BODY);
    let refuses_later = w.rules.first_settings;
    for name in LATER.iter().filter(|name| refuses_later && body.contains_key(**name)) {
        w.violate("unknown_field", &format!("/{name}"), "Extra inputs are not permitted");
    }
    content::breakpoints(w, body, "messages");
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        w.violate("field_missing", "", "Missing required parameter: 'messages'.");
        return;
    };
    if messages.is_empty() {
        w.violate("content_empty", "/messages", "Invalid 'messages': empty array.");
    }
    let mut turn = Turn::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}");
        if let Some(message) = w.object(Some(message), &at) {
            w.fields(message, &at, &MESSAGE);
            self::message(w, &mut turn, message, &at);
        }
    }
    unanswered(w, &mut turn);
}

fn message(w: &mut Witness<'_>, turn: &mut Turn, message: &Map<String, Value>, at: &str) {
    let Some(role) = w.string(message, "role", at) else { return };
    if role != "tool" {
        unanswered(w, turn);
    }
    let before = std::mem::replace(&mut turn.role, role.to_owned());
    if role == "user" {
        if before == "tool" && !w.rules.user_after_tool {
            w.violate("role_order", at, "Unexpected role 'user' after role 'tool'");
        }
        if before == "user" && !w.rules.consecutive_user {
            w.violate("role_order", at, "Conversation roles must alternate user/assistant");
        }
    }
    match role {
        "user" => content_of(w, &PartOrigin::new(Slot::User, at), message),
        "system" => content_of(w, &PartOrigin::new(Slot::System, at), message),
        "developer" => content_of(w, &PartOrigin::new(Slot::Developer, at), message),
        "assistant" => assistant(w, turn, message, at),
        "tool" => tool(w, turn, message, at, &before),
        "function" => content_of(w, &PartOrigin::new(Slot::ToolResult, at), message),
        _ => w.violate("role_unknown", at, format!("Invalid value: '{role}'.")),
    }
}

/// Reports calls without a tool message before the next other message.
fn unanswered(w: &mut Witness<'_>, turn: &mut Turn) {
    if !turn.waiting.is_empty() {
        let text = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            turn.waiting.join(", ")
        );
        w.violate("call_unanswered", &turn.at, text);
    }
    turn.waiting.clear();
    turn.answered.clear();
}

fn assistant(w: &mut Witness<'_>, turn: &mut Turn, message: &Map<String, Value>, at: &str) {
    let instead = ["tool_calls", "function_call", "audio", "refusal"];
    match message.get("content") {
        None | Some(Value::Null) => {
            if !instead.iter().any(|key| message.get(*key).is_some_and(|v| !v.is_null())) {
                let text = "Invalid value for 'content': expected a string, got null.";
                w.violate("content_empty", at, text);
            }
        }
        Some(_) => content_of(w, &PartOrigin::new(Slot::Assistant, at), message),
    }
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
        w.content();
        w.text(&PartOrigin::new(Slot::Assistant, format!("{at}/refusal")), refusal);
    }
    match message.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(calls)) if calls.is_empty() => {
            let text = "Invalid 'tool_calls': empty array. Expected an array with minimum length 1";
            w.violate("content_empty", &format!("{at}/tool_calls"), text);
        }
        Some(Value::Array(calls)) => {
            at.clone_into(&mut turn.at);
            for (index, call) in calls.iter().enumerate() {
                self::call(w, turn, call, &format!("{at}/tool_calls/{index}"));
            }
        }
        Some(_) => w.violate("field_type", &format!("{at}/tool_calls"), "expected an array"),
    }
}

fn call(w: &mut Witness<'_>, turn: &mut Turn, call: &Value, at: &str) {
    let Some(call) = w.object(Some(call), at) else { return };
    w.fields(call, at, &["id", "type", "function", "custom", "index"]);
    let Some(id) = w.string(call, "id", at) else { return };
    if id.is_empty() {
        w.violate("field_missing", at, "Invalid 'id': empty string.");
    }
    call_id(w, id, at);
    if turn.waiting.iter().any(|other| other == id) {
        w.violate("call_id_duplicate", at, format!("Duplicate tool call id '{id}'."));
    }
    turn.waiting.push(id.to_owned());
    let (body, key) = match call.get("type").and_then(Value::as_str) {
        Some("custom") => ("custom", "input"),
        Some("function") => ("function", "arguments"),
        _ => {
            let text = "Invalid 'type'. Supported values are: 'function' and 'custom'.";
            w.violate("value_unknown", at, text);
            return;
        }
    };
    let at = format!("{at}/{body}");
    if let Some(function) = w.object(call.get(body), &at)
        && let (Some(name), Some(arguments)) =
            (w.string(function, "name", &at), w.string(function, key, &at))
    {
        w.call(&at, id, name, arguments.to_owned());
    }
}

/// Checks the form of an id, on endpoints that restrict it.
fn call_id(w: &mut Witness<'_>, id: &str, at: &str) {
    let fits = id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric());
    if w.rules.nine_letter_ids && !fits {
        let text = format!("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.");
        w.violate("id_pattern", at, text);
    }
}

fn tool(
    w: &mut Witness<'_>,
    turn: &mut Turn,
    message: &Map<String, Value>,
    at: &str,
    before: &str,
) {
    let Some(id) = w.string(message, "tool_call_id", at) else { return };
    call_id(w, id, at);
    if let Some(index) = turn.waiting.iter().position(|waiting| waiting == id) {
        turn.answered.push(turn.waiting.remove(index));
    } else if turn.answered.iter().any(|answered| answered == id) {
        w.violate("result_duplicate", at, format!("Duplicate value for 'tool_call_id' of '{id}'"));
    } else {
        let text = if matches!(before, "tool" | "assistant") {
            format!(
                "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
            )
        } else {
            "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.".to_owned()
        };
        w.violate("result_orphan", at, text);
    }
    if !w.rules.tool_lists && message.get("content").is_some_and(Value::is_array) {
        w.violate("field_type", &format!("{at}/content"), "'content' must be a string");
    }
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    content_of(w, &PartOrigin::result(id, at), message);
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let text = text.join("\n");
    let images = w.seen.images.len() - images;
    if text.is_empty() && images == 0 {
        w.violate("tool_content_empty", at, "Invalid 'content': tool messages must not be empty.");
    }
    let (call_id, pointer) = (id.to_owned(), at.to_owned());
    w.seen.results.push(ToolResult { call_id, text, is_error: false, images, pointer });
}

/// Reads the `content` of a message: a string, or parts.
fn content_of(w: &mut Witness<'_>, place: &PartOrigin, message: &Map<String, Value>) {
    w.content();
    let place = place.down("content");
    match message.get("content") {
        Some(Value::String(text)) => w.text(&place, text),
        Some(Value::Array(parts)) => {
            if parts.is_empty() {
                w.violate("content_empty", &place.at, "Invalid 'content': empty array.");
            }
            for (index, part) in parts.iter().enumerate() {
                self::part(w, &place.down(index), part);
            }
        }
        None | Some(Value::Null) => {
            w.violate("field_missing", &place.at, "Missing required parameter: 'content'.");
        }
        Some(_) => {
            let text = "Invalid type for 'content': expected one of a string or array of objects.";
            w.violate("field_type", &place.at, text);
        }
    }
}

fn part(w: &mut Witness<'_>, place: &PartOrigin, part: &Value) {
    let at = place.at.clone();
    let Some(part) = w.object(Some(part), &at) else { return };
    let Some(kind) = w.string(part, "type", &at) else { return };
    match kind {
        "text" => {
            if let Some(text) = w.string(part, "text", &at) {
                w.text(&place.down("text"), text);
            }
        }
        "refusal" if place.slot == Slot::Assistant => {
            if let Some(text) = w.string(part, "refusal", &at) {
                w.text(&place.down("refusal"), text);
            }
        }
        "image_url" => image(w, place, part),
        "input_audio" | "file" | "document_url" | "refusal" if place.slot != Slot::User => {
            let text = format!("Invalid value: '{kind}'. Supported values are: 'text'.");
            w.violate("part_wrong_role", &at, text);
        }
        "input_audio" if w.rules.short_parts => content::short_audio(w, place, part),
        "input_audio" => content::audio(w, place, part),
        "document_url" | "file" if w.rules.short_parts => {
            content::short_document(w, place, part, kind);
            return;
        }
        "file" => {
            if let Some(file) = w.object(part.get("file"), &format!("{at}/file")) {
                content::file(w, place, file);
            }
        }
        _ => {
            w.unknown_part(&at, kind);
            return;
        }
    }
    w.fields(part, &at, &PART);
}

fn image(w: &mut Witness<'_>, place: &PartOrigin, part: &Map<String, Value>) {
    let allowed = match place.slot {
        Slot::User => true,
        Slot::ToolResult => w.rules.tool_images && place.owner.is_some(),
        Slot::System | Slot::Developer | Slot::Assistant => false,
    };
    if !allowed {
        let role = match place.slot {
            Slot::System => "system",
            Slot::Developer => "developer",
            Slot::Assistant => "assistant",
            Slot::User | Slot::ToolResult => "tool",
        };
        let text = format!(
            "Image URLs are only allowed for messages with role 'user', but this message with role '{role}' contains an image URL."
        );
        w.violate("image_wrong_role", &place.at, text);
    }
    let at = format!("{}/image_url", place.at);
    if let Some(url) = part.get("image_url").and_then(Value::as_str)
        && w.rules.short_parts
    {
        content::image_url(w, place, url, None);
    } else if let Some(object) = w.object(part.get("image_url"), &at) {
        w.fields(object, &at, &["url", "detail"]);
        let detail = content::detail(w, object, &at);
        if let Some(url) = w.string(object, "url", &at) {
            content::image_url(w, place, url, detail);
        }
    }
}
