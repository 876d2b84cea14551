//! `POST …:generateContent`, as the service reads a request.
//!
//! This module owns turns of parts, equal numbers of calls and responses, and media in responses.
//! It must never guess a name or an id: calls and responses without ids pair by position.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::seen::{Audio, Document, Slot, Source, ToolResult};
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 9] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
    "model",
];
/// The kinds of a part. A part has exactly one of them.
const DATA: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];
const PART: [&str; 6] = [
    "thought",
    "thoughtSignature",
    "mediaResolution",
    "videoMetadata",
    "partMetadata",
    "mediaProcessing",
];

struct Turn<'v> {
    role: &'v str,
    at: String,
    /// The parts, each with its pointer, and `true` for the first of its content.
    parts: Vec<(String, &'v Map<String, Value>, bool)>,
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    let body = &camel(body);
    w.fields(body, "", &BODY);
    if let Some(system) = body.get("systemInstruction") {
        let parts = system["parts"].as_array().map_or(&[][..], Vec::as_slice);
        w.content();
        for (index, part) in parts.iter().enumerate() {
            let place = PartOrigin::new(Slot::System, format!("/systemInstruction/parts/{index}"));
            match part["text"].as_str() {
                Some(text) => words(w, &place.down("text"), text),
                None => w.violate("part_wrong_role", &place.at, "systemInstruction is text"),
            }
        }
    }
    let Some(contents) = body.get("contents").and_then(Value::as_array) else {
        w.violate("field_missing", "", "contents is not specified");
        return;
    };
    if contents.is_empty() {
        w.violate("content_empty", "/contents", "contents is not specified");
    }
    let turns = turns(w, contents);
    if let Some(first) = turns.first().filter(|turn| turn.role != "user") {
        let text = "Please ensure that multiturn requests begin with a user turn.";
        w.violate("first_message", &first.at, text);
    }
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| turns.get(index));
        pairs(w, before, turn, turns.get(index + 1));
        for (at, part, first) in &turn.parts {
            if *first {
                w.content();
            }
            let slot = if turn.role == "user" { Slot::User } else { Slot::Assistant };
            self::part(w, &PartOrigin::new(slot, at), part);
        }
    }
}

/// Returns the body with every name in camel case, because the service takes underscores as well.
/// The arguments and results of tools are not changed.
fn camel(object: &Map<String, Value>) -> Map<String, Value> {
    fn inside(name: &str, value: &Value) -> Value {
        match value {
            Value::Object(object) if !["args", "response", "parameters"].contains(&name) => {
                Value::Object(camel(object))
            }
            Value::Array(list) => list.iter().map(|item| inside("", item)).collect(),
            other => other.clone(),
        }
    }
    let member = |(name, member): (&String, &Value)| {
        if name.starts_with("x_") {
            return (name.clone(), member.clone());
        }
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let spelled = words.fold(first, |spelled, word| {
            let mut letters = word.chars();
            let head = letters.next().map(|letter| letter.to_ascii_uppercase());
            spelled + &head.into_iter().chain(letters).collect::<String>()
        });
        (spelled, inside(name, member))
    };
    object.iter().map(member).collect()
}

impl<'v> Turn<'v> {
    fn of(&self, name: &str) -> Vec<&'v Map<String, Value>> {
        self.parts.iter().filter_map(|(_, part, _)| part.get(name)?.as_object()).collect()
    }
}

fn turns<'v>(w: &mut Witness<'_>, contents: &'v [Value]) -> Vec<Turn<'v>> {
    let mut turns: Vec<Turn<'v>> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let at = format!("/contents/{index}");
        let Some(content) = w.object(Some(content), &at) else { continue };
        w.fields(content, &at, &["role", "parts"]);
        let role = content.get("role").and_then(Value::as_str).unwrap_or("user");
        if !matches!(role, "user" | "model") {
            w.violate("role_unknown", &at, "Please use a valid role: user, model.");
        }
        let list = content.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.is_empty() {
            let text = "GenerateContentRequest.contents.parts: contents.parts must not be empty.";
            w.violate("content_empty", &at, text);
        }
        let parts: Vec<_> = list
            .iter()
            .enumerate()
            .filter_map(|(number, part)| {
                Some((format!("{at}/parts/{number}"), part.as_object()?, number == 0))
            })
            .collect();
        match turns.last_mut() {
            Some(turn) if turn.role == role => {
                if role == "user" && !w.rules.consecutive_user {
                    w.violate("role_order", &at, "Please ensure that roles alternate");
                }
                turn.parts.extend(parts);
            }
            _ => turns.push(Turn { role, at, parts }),
        }
    }
    turns
}

/// Checks that a turn has as many responses as the turn before has calls.
fn pairs(
    w: &mut Witness<'_>,
    before: Option<&Turn<'_>>,
    turn: &Turn<'_>,
    after: Option<&Turn<'_>>,
) {
    let calls = turn.of("functionCall");
    let answers = after.map(|after| after.of("functionResponse")).unwrap_or_default();
    if calls.len() > answers.len() {
        let text = "Please ensure that function call turn comes immediately after a user turn, and the number of function response parts is equal to the number of function call parts of the function call turn.";
        w.violate("call_unanswered", &turn.at, text);
    }
    if w.rules.call_signatures
        && let Some((at, part, _)) =
            turn.parts.iter().find(|(_, part, _)| part.contains_key("functionCall"))
        && !part.contains_key("thoughtSignature")
    {
        let text = "Function call is missing a thought_signature in functionCall parts.";
        w.violate("signature_missing", at, text);
    }
    let mut open: Vec<&Map<String, Value>> =
        before.map(|before| before.of("functionCall")).unwrap_or_default();
    for (at, part, _) in &turn.parts {
        let Some(answer) = part.get("functionResponse").and_then(Value::as_object) else {
            continue;
        };
        let fits = |call: &&Map<String, Value>| match answer.get("id") {
            Some(id) => call.get("id") == Some(id),
            None => call.get("name") == answer.get("name"),
        };
        let Some(found) = open.iter().position(fits) else {
            let text = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
            w.violate("result_orphan", at, text);
            continue;
        };
        if open.remove(found).get("name") != answer.get("name") {
            let text = "function_response.name: does not match the name of its call";
            w.violate("result_name", at, text);
        }
    }
}

fn words(w: &mut Witness<'_>, place: &PartOrigin, text: &str) {
    if text.trim().is_empty() {
        let text = "Unable to submit request because it must have a text parameter.";
        w.violate("text_empty", &place.at, text);
    }
    w.text(place, text);
}

fn part(w: &mut Witness<'_>, place: &PartOrigin, part: &Map<String, Value>) {
    let at = &place.at;
    let data: Vec<&str> = DATA.into_iter().filter(|name| part.contains_key(*name)).collect();
    let [name] = data.as_slice() else {
        let name = part.keys().next().cloned().unwrap_or_default();
        if data.is_empty() && !part.is_empty() {
            return w.unknown_part(at, &name);
        }
        let text = "oneof field 'data' must have one initialized field";
        return w.violate("field_missing", at, text);
    };
    let known: Vec<&str> = DATA.into_iter().chain(PART).collect();
    w.fields(part, at, &known);
    let value = &part[*name];
    if part.get("thought") == Some(&Value::Bool(true)) {
        return;
    }
    match (*name, place.slot) {
        ("text", _) => match value.as_str() {
            Some(text) => words(w, &place.down("text"), text),
            None => w.violate("field_type", at, "text: expected a string"),
        },
        ("inlineData", _) => inline(w, place, value),
        ("fileData", _) => file(w, place, value),
        ("functionCall", Slot::Assistant) => call(w, place, value),
        ("functionResponse", Slot::User) => response(w, place, value),
        ("functionCall" | "functionResponse", _) => {
            let text = format!("{name} is not allowed in this role");
            w.violate("part_wrong_role", at, text);
        }
        _ => {}
    }
}

fn call(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(call) = w.object(Some(value), at) else { return };
    w.fields(call, at, &["id", "name", "args", "willContinue", "partialArgs"]);
    let Some(name) = w.string(call, "name", at) else { return };
    let args = call.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    if !args.is_object() {
        w.violate("field_type", at, "function_call.args: expected an object");
    }
    let by_place = format!("call_{}", w.seen.calls.len() + 1);
    let id = call.get("id").and_then(Value::as_str).unwrap_or(&by_place);
    w.call(at, id, name, args.to_string());
}

fn response(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = &place.at;
    let Some(answer) = w.object(Some(value), at) else { return };
    w.fields(answer, at, &["id", "name", "response", "parts", "willContinue", "scheduling"]);
    let Some(name) = w.string(answer, "name", at) else { return };
    if name.is_empty() {
        let text =
            "GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.";
        w.violate("field_missing", at, text);
    }
    let open = |id: &str| w.seen.results.iter().all(|result| result.call_id != id);
    let by_place = w.seen.calls.iter().find(|call| call.name == name && open(&call.id));
    let by_place = by_place.map(|call| call.id.clone());
    let id = answer.get("id").and_then(Value::as_str).map(str::to_owned).or(by_place);
    let id = id.unwrap_or_else(|| name.to_owned());
    let inside = PartOrigin::result(&id, format!("{at}/functionResponse"));
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    w.content();
    let mut is_error = false;
    match answer.get("response").and_then(Value::as_object) {
        Some(response) => {
            is_error = response.contains_key("error");
            for (key, value) in response {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                w.text(&inside.down("response").down(key), &text);
            }
        }
        None => w.violate("field_missing", at, "function_response.response: expected an object"),
    }
    w.content();
    let media = answer.get("parts").and_then(Value::as_array).into_iter().flatten();
    for (index, medium) in media.enumerate() {
        let place = inside.down("parts").down(index);
        if !w.rules.tool_images && medium.get("type").is_none() {
            let text = "Multimodal function responses are not supported for this model";
            w.violate("image_wrong_role", &place.at, text);
        }
        match (medium.get("inlineData"), medium.get("fileData")) {
            (Some(blob), None) => inline(w, &place, blob),
            (None, Some(stored)) => file(w, &place, stored),
            _ => w.unknown_part(&place.at, "functionResponse.parts"),
        }
    }
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let (text, images) = (text.join("\n"), w.seen.images.len() - images);
    w.content();
    let pointer = at.clone();
    w.seen.results.push(ToolResult { call_id: id, text, is_error, images, pointer });
}

fn inline(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = format!("{}/inlineData", place.at);
    let Some(blob) = w.object(Some(value), &at) else { return };
    w.fields(blob, &at, &["mimeType", "data", "displayName"]);
    let (media_type, data) = (w.string(blob, "mimeType", &at), w.string(blob, "data", &at));
    let (Some(media_type), Some(data)) = (media_type, data) else { return };
    // The service reads both alphabets of base64, and its own SDK writes the URL-safe one. Padding
    // may be left out.
    let mut data = data.replace('-', "+").replace('_', "/");
    while !data.len().is_multiple_of(4) {
        data.push('=');
    }
    let data = &data;
    if media_type.starts_with("image/") {
        if w.rules.media_types.contains(&media_type) {
            return w.inline(place, media_type, data, None);
        }
        let text = format!("Unsupported MIME type: {media_type}");
        return w.violate("media_type_unsupported", &at, text);
    }
    let Ok(bytes) = STANDARD.decode(data) else {
        return w.violate("base64_invalid", &at, "Base64 decoding failed");
    };
    if let Some(format) = media_type.strip_prefix("audio/") {
        let (format, pointer) = (format.to_owned(), place.at.clone());
        w.seen.audio.push(Audio { slot: place.slot, format, bytes, pointer });
        return;
    }
    // No test looks at videos. They count among the parts.
    if media_type.starts_with("video/") {
        return;
    }
    if !matches!(media_type.split('/').next(), Some("application" | "text")) {
        let text = format!("Unsupported MIME type: {media_type}");
        return w.violate("media_type_unsupported", &at, text);
    }
    if media_type == "application/pdf" && !bytes.starts_with(b"%PDF-") {
        w.violate("document_invalid", &at, "The document has no pages.");
    }
    let name = blob.get("displayName").and_then(Value::as_str).map(str::to_owned);
    document(w, place, Some(media_type), name, Source::Inline(bytes));
}

fn file(w: &mut Witness<'_>, place: &PartOrigin, value: &Value) {
    let at = format!("{}/fileData", place.at);
    let Some(file) = w.object(Some(value), &at) else { return };
    let Some(uri) = w.string(file, "fileUri", &at) else { return };
    let media_type = file.get("mimeType").and_then(Value::as_str);
    let source = Source::File(uri.to_owned());
    match media_type {
        Some(kind) if kind.starts_with("image/") => w.remote(place, source, None),
        _ => document(w, place, media_type, None, source),
    }
}

fn document(
    w: &mut Witness<'_>,
    place: &PartOrigin,
    media_type: Option<&str>,
    name: Option<String>,
    source: Source,
) {
    let (slot, owner, pointer) = (place.slot, place.owner.clone(), place.at.clone());
    let media_type = media_type.map(str::to_owned);
    w.document(Document { slot, owner, media_type, name, source, pointer });
}
