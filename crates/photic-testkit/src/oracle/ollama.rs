//! `POST /api/chat`, as Ollama reads a request, with the order of tool messages that templates
//! need.
//!
//! This module owns the list of pictures beside a text and the markers in it. It must never accept
//! a type or an address: this wire has none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::parts::plays;
use super::picture::sniff;
use super::seen::{Audio, Slot, ToolResult};
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 12] = [
    "model",
    "messages",
    "tools",
    "format",
    "options",
    "stream",
    "keep_alive",
    "think",
    "truncate",
    "shift",
    "logprobs",
    "top_logprobs",
];
const MESSAGE: [&str; 7] =
    ["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"];
const MARKER: &str = "[img]";

/// The calls of the last assistant turn while its tool messages are being read.
#[derive(Default)]
struct Turn {
    at: String,
    role: String,
    /// Ids and names of the calls that are not answered yet.
    waiting: Vec<(String, String)>,
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    w.fields(body, "", &BODY);
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        w.violate("field_missing", "", "messages is required");
        return;
    };
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

fn unanswered(w: &mut Witness<'_>, turn: &mut Turn) {
    if !turn.waiting.is_empty() {
        let text = "a tool call has no tool message that answers it";
        w.violate("call_unanswered", &turn.at, text);
    }
    turn.waiting.clear();
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
        "user" => content(w, &PartOrigin::new(Slot::User, at), message),
        "system" => content(w, &PartOrigin::new(Slot::System, at), message),
        "assistant" => {
            content(w, &PartOrigin::new(Slot::Assistant, at), message);
            at.clone_into(&mut turn.at);
            let calls = message.get("tool_calls").and_then(Value::as_array);
            for (index, call) in calls.into_iter().flatten().enumerate() {
                self::call(w, turn, call, &format!("{at}/tool_calls/{index}"));
            }
        }
        "tool" => tool(w, turn, message, at),
        _ => w.violate("role_unknown", at, format!("invalid role: {role}")),
    }
}

fn call(w: &mut Witness<'_>, turn: &mut Turn, call: &Value, at: &str) {
    let Some(call) = w.object(Some(call), at) else { return };
    let Some(function) = w.object(call.get("function"), at) else { return };
    let Some(name) = w.string(function, "name", at) else { return };
    let Some(arguments) = w.object(function.get("arguments"), at) else { return };
    let by_place = format!("call_{}", w.seen.calls.len() + 1);
    let id = call.get("id").and_then(Value::as_str).unwrap_or(&by_place);
    if turn.waiting.iter().any(|(other, _)| other == id) && call.contains_key("id") {
        w.violate("call_id_duplicate", at, format!("duplicate tool call id {id}"));
    }
    turn.waiting.push((id.to_owned(), name.to_owned()));
    w.call(at, id, name, Value::Object(arguments.clone()).to_string());
}

fn tool(w: &mut Witness<'_>, turn: &mut Turn, message: &Map<String, Value>, at: &str) {
    let field = |key: &str| message.get(key).and_then(Value::as_str);
    let found = match (field("tool_call_id"), field("tool_name")) {
        (Some(id), _) => turn.waiting.iter().position(|(waiting, _)| waiting == id),
        (None, Some(name)) => turn.waiting.iter().position(|(_, waiting)| waiting == name),
        (None, None) => (!turn.waiting.is_empty()).then_some(0),
    };
    let Some(found) = found else {
        w.violate("result_orphan", at, "a tool message answers no call before it");
        return;
    };
    let (id, name) = turn.waiting.remove(found);
    if field("tool_name").is_some_and(|said| said != name) {
        w.violate("result_name", at, "tool_name is not the name of the call");
    }
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    content(w, &PartOrigin::result(&id, at), message);
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let (text, images) = (text.join("\n"), w.seen.images.len() - images);
    let silent = message.get("content").and_then(Value::as_str).is_none_or(str::is_empty);
    if silent && images == 0 {
        w.violate("tool_content_empty", at, "a tool message says nothing");
    }
    let pointer = at.to_owned();
    w.seen.results.push(ToolResult { call_id: id, text, is_error: false, images, pointer });
}

/// Reads the text and the pictures beside it. A picture is at its marker, or in front of the text.
fn content(w: &mut Witness<'_>, place: &PartOrigin, message: &Map<String, Value>) {
    w.content();
    let words = match message.get("content") {
        Some(Value::String(text)) => text.as_str(),
        None | Some(Value::Null) => "",
        Some(_) => {
            let text = "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string";
            return w.violate("field_type", &format!("{}/content", place.at), text);
        }
    };
    let images: Vec<&Value> =
        message.get("images").and_then(Value::as_array).into_iter().flatten().collect();
    let at = place.down("content");
    let pieces: Vec<&str> = words.split(MARKER).collect();
    let marked = if images.is_empty() { 0 } else { images.len().min(pieces.len() - 1) };
    // A single picture in front of its text has the text as its label.
    let caption = images.len() == 1 && marked == 0 && !words.is_empty();
    if caption {
        w.text(&at, words);
    }
    for (index, image) in images.iter().enumerate().skip(marked) {
        self::image(w, &place.down("images").down(index), image);
    }
    if caption {
        return;
    }
    for (index, piece) in pieces.iter().enumerate() {
        if !piece.trim().is_empty() {
            w.text(&at, piece.trim_matches('\n'));
        }
        if index < marked {
            image(w, &place.down("images").down(index), images[index]);
        }
    }
}

fn image(w: &mut Witness<'_>, place: &PartOrigin, image: &Value) {
    let allowed = match place.slot {
        Slot::User => true,
        Slot::ToolResult => w.rules.tool_images,
        Slot::System | Slot::Developer | Slot::Assistant => false,
    };
    if !allowed {
        w.violate("image_wrong_role", &place.at, "the template shows no images in this role");
    }
    let Some(data) = image.as_str() else {
        return w.violate("field_type", &place.at, "images: expected base64");
    };
    let bytes = STANDARD.decode(data).unwrap_or_default();
    if bytes.is_empty() {
        return w.violate("base64_invalid", &place.at, "illegal base64 data at input byte 0");
    }
    // Sounds are in the same list, for models that hear.
    if plays(&bytes) {
        let (format, pointer) = (String::new(), place.at.clone());
        w.seen.audio.push(Audio { slot: place.slot, format, bytes, pointer });
        return;
    }
    w.inline(place, sniff(&bytes).unwrap_or("image/png"), data, None);
}
