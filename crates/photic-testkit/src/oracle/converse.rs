//! `POST /model/…/converse`, as Amazon Bedrock reads a request.
//!
//! This module owns alternating turns, pairs of calls and results, and the rules of documents.
//! Differences between the models come from the rules.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::seen::{Document, Slot, Source, ToolResult};
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 11] = [
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "promptVariables",
    "requestMetadata",
    "performanceConfig",
    "serviceTier",
];
const FORMATS: [&str; 9] = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"];

struct Turn<'v> {
    role: &'v str,
    at: String,
    blocks: &'v [Value],
}

impl<'v> Turn<'v> {
    fn ids(&self, kind: &str) -> Vec<&'v str> {
        self.blocks.iter().filter_map(|block| block.get(kind)?.get("toolUseId")?.as_str()).collect()
    }
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    w.fields(body, "", &BODY);
    w.content();
    let system = body.get("system").and_then(Value::as_array).into_iter().flatten();
    for (index, block) in system.enumerate() {
        let place = PartOrigin::new(Slot::System, format!("/system/{index}"));
        match block["text"].as_str() {
            Some(text) => words(w, &place.down("text"), text),
            None if block.get("cachePoint").is_some() => {}
            None => w.violate("part_wrong_role", &place.at, "system content is text"),
        }
    }
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        w.violate("field_missing", "", "messages: Field required");
        return;
    };
    let turns = turns(w, messages);
    if turns.first().is_none_or(|turn| turn.role != "user") {
        let text = "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
        w.violate("first_message", "/messages", text);
    }
    let uses_tools = turns
        .iter()
        .any(|turn| !(turn.ids("toolUse").is_empty() && turn.ids("toolResult").is_empty()));
    let tools = body.get("toolConfig").and_then(|config| config["tools"].as_array());
    if uses_tools && tools.is_none_or(Vec::is_empty) {
        let text = "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
        w.violate("field_missing", "/toolConfig", text);
    }
    let mut ids: Vec<&str> = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| turns.get(index));
        for id in turn.ids("toolUse") {
            if ids.contains(&id) {
                let text = format!("messages: `tool_use` ids must be unique: {id}");
                w.violate("call_id_duplicate", &turn.at, text);
            }
            ids.push(id);
        }
        order(w, before, turn);
        pairs(w, before, turn, turns.get(index + 1));
        content(w, turn);
    }
}

fn turns<'v>(w: &mut Witness<'_>, messages: &'v [Value]) -> Vec<Turn<'v>> {
    let mut turns = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}");
        let Some(message) = w.object(Some(message), &at) else { continue };
        w.fields(message, &at, &["role", "content"]);
        let Some(role) = w.string(message, "role", &at) else { continue };
        if !matches!(role, "user" | "assistant") {
            let text = format!(
                "Value '{role}' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]"
            );
            w.violate("role_unknown", &at, text);
        }
        let blocks =
            message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if blocks.is_empty() {
            let text =
                format!("The content field in the Message object at messages.{index} is empty.");
            w.violate("content_empty", &at, text);
        }
        turns.push(Turn { role, at, blocks });
    }
    turns
}

fn order(w: &mut Witness<'_>, before: Option<&Turn<'_>>, turn: &Turn<'_>) {
    let doubled = before.is_some_and(|before| before.role == turn.role);
    if doubled && !(turn.role == "user" && w.rules.consecutive_user) {
        let text = "A conversation must alternate between user and assistant roles.";
        w.violate("role_order", &turn.at, text);
    }
    let is_result = |block: &&Value| block.get("toolResult").is_some();
    let results = turn.blocks.iter().filter(is_result).count();
    if !w.rules.user_after_tool && results > 0 && results < turn.blocks.len() {
        let text =
            "Conversation blocks and tool result blocks cannot be provided in the same turn.";
        w.violate("role_order", &turn.at, text);
    }
}

fn pairs(
    w: &mut Witness<'_>,
    before: Option<&Turn<'_>>,
    turn: &Turn<'_>,
    after: Option<&Turn<'_>>,
) {
    let answers = after.map(|after| after.ids("toolResult")).unwrap_or_default();
    let missing: Vec<&str> =
        turn.ids("toolUse").into_iter().filter(|id| !answers.contains(id)).collect();
    if !missing.is_empty() {
        let text = format!(
            "Expected toolResult blocks at {}.content for the following Ids: {}",
            turn.at.replace('/', "."),
            missing.join(", ")
        );
        w.violate("call_unanswered", &turn.at, text);
    }
    let calls = before.map(|before| before.ids("toolUse")).unwrap_or_default();
    let mut answered: Vec<&str> = Vec::new();
    for id in turn.ids("toolResult") {
        if answered.contains(&id) {
            let text = format!("duplicate Ids in toolResult blocks: {id}");
            w.violate("result_duplicate", &turn.at, text);
        } else if !calls.contains(&id) {
            let text = "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.";
            w.violate("result_orphan", &turn.at, text);
        }
        answered.push(id);
    }
}

fn content(w: &mut Witness<'_>, turn: &Turn<'_>) {
    let slot = if turn.role == "user" { Slot::User } else { Slot::Assistant };
    w.content();
    let has = |name: &str| turn.blocks.iter().any(|block| block.get(name).is_some());
    if has("document") && !has("text") {
        let text = "A text block is required when a document is included in the content.";
        w.violate("text_missing", &turn.at, text);
    }
    for (index, block) in turn.blocks.iter().enumerate() {
        let place = PartOrigin::new(slot, format!("{}/content/{index}", turn.at));
        self::block(w, &place, block);
    }
}

fn words(w: &mut Witness<'_>, place: &PartOrigin, text: &str) {
    if text.trim().is_empty() {
        let text = "The text field in the ContentBlock object is blank. Add text to the text field, and try again.";
        w.violate("text_empty", &place.at, text);
    }
    w.text(place, text);
}

fn block(w: &mut Witness<'_>, place: &PartOrigin, block: &Value) {
    let at = &place.at;
    let Some(object) = w.object(Some(block), at) else { return };
    let mut members = object.iter().filter(|(name, _)| !name.starts_with("x_"));
    let (Some((name, value)), None) = (members.next(), members.next()) else {
        let name = object.get("type").and_then(Value::as_str).unwrap_or("union");
        if object.contains_key("type") {
            return w.unknown_part(at, name);
        }
        let text = "ContentBlock: exactly one member of the union must be set";
        return w.violate("field_type", at, text);
    };
    match (name.as_str(), place.slot) {
        ("text", _) => match value.as_str() {
            Some(text) => words(w, &place.down("text"), text),
            None => w.violate("field_type", at, "text: expected a string"),
        },
        ("image" | "document" | "video", Slot::Assistant) => {
            let code = if name == "image" { "image_wrong_role" } else { "part_wrong_role" };
            let text =
                format!("This model doesn't support the {name} field for assistant messages.");
            w.violate(code, at, text);
        }
        ("image", _) => image(w, place, value),
        ("document", _) => document(w, place, value),
        ("toolUse", Slot::Assistant) => call(w, place, value),
        ("toolResult", Slot::User) => result(w, place, value),
        ("json", Slot::ToolResult) => w.text(&place.down("json"), &value.to_string()),
        ("toolUse" | "toolResult", _) => {
            let text = format!("{name} is not allowed in this role");
            w.violate("part_wrong_role", at, text);
        }
        ("reasoningContent" | "cachePoint" | "guardContent" | "searchResult" | "audio", _) => {}
        _ => w.unknown_part(at, name),
    }
}

fn call(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(call) = w.object(Some(value), at) else { return };
    let (id, name) = (w.string(call, "toolUseId", at), w.string(call, "name", at));
    let Some(input) = w.object(call.get("input"), at) else { return };
    let (Some(id), Some(name)) = (id, name) else { return };
    pattern(w, at, id);
    w.call(at, id, name, Value::Object(input.clone()).to_string());
}

fn pattern(w: &mut Witness<'_>, at: &str, id: &str) {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !(1..=64).contains(&id.len()) || !id.bytes().all(allowed) {
        let text = "toolUseId: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+";
        w.violate("id_pattern", at, text);
    }
}

fn result(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(result) = w.object(Some(value), at) else { return };
    w.fields(result, at, &["toolUseId", "content", "status", "type"]);
    let Some(id) = w.string(result, "toolUseId", at) else { return };
    pattern(w, at, id);
    w.one_of(result, "status", at, &["success", "error"]);
    let is_error = result.get("status").and_then(Value::as_str) == Some("error");
    let blocks = result.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if blocks.is_empty() && is_error {
        let text = "The content field at toolResult cannot be empty when status value is error.";
        w.violate("error_result_empty", at, text);
    }
    let inside = PartOrigin::result(id, format!("{at}/toolResult/content"));
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    w.content();
    for (index, block) in blocks.iter().enumerate() {
        let inside = inside.down(index);
        if is_error && block.get("text").is_none() {
            let text = "tool_result: all content must be type `text` if `is_error` is true";
            w.violate("error_result_media", &inside.at, text);
        }
        self::block(w, &inside, block);
    }
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let (text, images) = (text.join("\n"), w.seen.images.len() - images);
    w.content();
    let (call_id, pointer) = (id.to_owned(), at.clone());
    w.seen.results.push(ToolResult { call_id, text, is_error, images, pointer });
}

fn image(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(image) = w.object(Some(value), at) else { return };
    if place.slot == Slot::ToolResult && !w.rules.tool_images {
        let text = "This model doesn't support the image field for user messages.";
        w.violate("image_wrong_role", at, text);
    }
    w.one_of(image, "format", at, &["png", "jpeg", "gif", "webp"]);
    let Some(format) = w.string(image, "format", at) else { return };
    match &value["source"] {
        Value::Object(source) if source.contains_key("bytes") => {
            if let Some(data) = w.string(source, "bytes", at) {
                w.inline(place, &format!("image/{format}"), data, None);
            }
        }
        source => match source["s3Location"]["uri"].as_str() {
            Some(uri) => w.remote(place, Source::File(uri.to_owned()), None),
            None => w.violate("field_missing", at, "image.source: bytes or s3Location"),
        },
    }
}

fn document(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(document) = w.object(Some(value), at) else { return };
    w.one_of(document, "format", at, &FORMATS);
    let Some(name) = w.string(document, "name", at) else { return };
    let allowed = |c: char| c.is_ascii_alphanumeric() || " -()[]".contains(c);
    if name.is_empty() || name.len() > 200 || !name.chars().all(allowed) || name.contains("  ") {
        let text = "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets.";
        w.violate("document_name", at, text);
    }
    if w.seen.documents.iter().any(|other| other.name.as_deref() == Some(name)) {
        w.violate("document_name", at, "The document names must be unique.");
    }
    let source = match value["source"]["bytes"].as_str() {
        Some(data) => match STANDARD.decode(data) {
            Ok(bytes) => Source::Inline(bytes),
            Err(_) => return w.violate("base64_invalid", at, "document.source.bytes: invalid"),
        },
        None => match value["source"]["s3Location"]["uri"].as_str() {
            Some(uri) => Source::File(uri.to_owned()),
            None => Source::Inline(Vec::new()),
        },
    };
    if let (Source::Inline(bytes), Some("pdf")) = (&source, value["format"].as_str())
        && !bytes.starts_with(b"%PDF-")
    {
        w.violate("document_invalid", at, "The PDF specified was not valid.");
    }
    w.document(Document {
        slot: place.slot,
        owner: place.owner.clone(),
        media_type: None,
        name: Some(name.to_owned()),
        source,
        pointer: at.clone(),
    });
}
