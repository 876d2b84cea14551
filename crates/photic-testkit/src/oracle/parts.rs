//! The parts of a request that are neither pictures nor texts, byte for byte.
//!
//! This module owns the places where each wire keeps its parts. It must never judge: it only
//! lists.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use super::picture::sniff;
use super::seen::Part;
use super::smuggle::smuggled;

/// Returns every such part of a body that `serde_json` accepted, in order.
pub(super) fn of(wire: &str, body: &[u8]) -> Vec<Part> {
    let Some(root) =
        std::str::from_utf8(body).ok().and_then(|text| serde_json::from_str(text).ok())
    else {
        return Vec::new();
    };
    let mut list = List { found: Vec::new() };
    let root: &RawValue = root;
    match wire {
        "openai-chat" => list.each(root, "messages", List::chat),
        "openai-responses" => list.each(root, "input", List::item),
        "anthropic" => list.each(root, "messages", |list, at, message| {
            list.each_below(at, message, "content", List::block);
        }),
        "gemini" => list.each(root, "contents", |list, at, content| {
            list.each_below(at, content, "parts", List::gemini);
        }),
        "bedrock-converse" => list.each(root, "messages", |list, at, message| {
            list.each_below(at, message, "content", List::converse);
        }),
        "ollama" => list.each(root, "messages", List::ollama),
        _ => {}
    }
    list.found
}

type Members<'b> = BTreeMap<String, &'b RawValue>;

fn members(raw: &RawValue) -> Members<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn items(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn string(members: &Members<'_>, name: &str) -> String {
    members.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

struct List {
    found: Vec<Part>,
}

impl List {
    fn each(&mut self, root: &RawValue, name: &str, read: impl Fn(&mut Self, &str, &RawValue)) {
        self.each_below("", root, name, read);
    }

    fn each_below(
        &mut self,
        at: &str,
        object: &RawValue,
        name: &str,
        read: impl Fn(&mut Self, &str, &RawValue),
    ) {
        let Some(list) = members(object).remove(name) else { return };
        for (index, item) in items(list).into_iter().enumerate() {
            read(self, &format!("{at}/{name}/{index}"), item);
        }
    }

    fn add(&mut self, at: &str, kind: &str, raw: &RawValue) {
        let (pointer, kind, raw) = (at.to_owned(), kind.to_owned(), raw.get().to_owned());
        self.found.push(Part { pointer, kind, raw });
    }

    fn chat(&mut self, at: &str, message: &RawValue) {
        self.each_below(at, message, "content", |list, at, part| {
            let kind = string(&members(part), "type");
            let is_other = !matches!(kind.as_str(), "" | "text" | "refusal" | "image_url");
            if is_other && !is_picture(part) {
                list.add(at, &kind, part);
            }
        });
        self.each_below(at, message, "tool_calls", |list, at, call| list.add(at, "call", call));
    }

    fn item(&mut self, at: &str, item: &RawValue) {
        let part = |list: &mut Self, at: &str, part: &RawValue| {
            let kind = string(&members(part), "type");
            let is_known =
                matches!(kind.as_str(), "" | "input_text" | "output_text" | "text" | "refusal");
            if !is_known && kind != "input_image" && !is_picture(part) {
                list.add(at, &kind, part);
            }
        };
        match string(&members(item), "type").as_str() {
            "" | "message" => self.each_below(at, item, "content", part),
            "function_call_output" | "custom_tool_call_output" => {
                self.each_below(at, item, "output", part);
            }
            // Their outputs may hold pictures.
            "computer_call_output" | "shell_call_output" | "mcp_call" => {}
            kind => self.add(at, kind, item),
        }
    }

    fn block(&mut self, at: &str, block: &RawValue) {
        let inside = members(block);
        match string(&inside, "type").as_str() {
            "" | "text" | "image" => {}
            "tool_result" => self.each_below(at, block, "content", Self::block),
            "document" if has_blocks(block) => {
                if let Some(source) = inside.get("source") {
                    self.each_below(&format!("{at}/source"), source, "content", Self::block);
                }
            }
            // A picture that is text in it may be taken out of it.
            "search_result" if !smuggled(block.get()).is_empty() => {}
            kind if !is_picture(block) => self.add(at, kind, block),
            _ => {}
        }
    }

    fn gemini(&mut self, at: &str, part: &RawValue) {
        let inside = members(part);
        let either = |camel: &str, snake: &str| inside.get(camel).or_else(|| inside.get(snake));
        if let Some(response) = either("functionResponse", "function_response") {
            self.each_below(&format!("{at}/functionResponse"), response, "parts", Self::gemini);
        } else if inside.contains_key("text") && !inside.contains_key("thought") {
            // A text.
        } else if !is_picture(part) {
            let kind = inside.keys().next().cloned().unwrap_or_default();
            self.add(at, &kind, part);
        }
    }

    fn converse(&mut self, at: &str, block: &RawValue) {
        let inside = members(block);
        if let Some(result) = inside.get("toolResult") {
            self.each_below(&format!("{at}/toolResult"), result, "content", Self::converse);
        } else if ["text", "image", "json"].iter().any(|name| inside.contains_key(*name)) {
            // A text or a picture.
        } else if !is_picture(block) && smuggled(block.get()).is_empty() {
            let kind = inside.keys().next().cloned().unwrap_or_default();
            self.add(at, &kind, block);
        }
    }

    fn ollama(&mut self, at: &str, message: &RawValue) {
        self.each_below(at, message, "images", |list, at, image| {
            if is_film_or_sound(image.get()) {
                list.add(at, "images", image);
            }
        });
        self.each_below(at, message, "tool_calls", |list, at, call| list.add(at, "call", call));
    }
}

fn has_blocks(document: &RawValue) -> bool {
    let value: Value = serde_json::from_str(document.get()).unwrap_or_default();
    value["source"]["content"].is_array()
}

/// Returns `true` if a part is a picture by its bytes, or by its label if there are none. A part
/// labeled as a film or a sound is not a picture.
fn is_picture(part: &RawValue) -> bool {
    fn look(value: &Value, says: &mut Vec<String>, bytes: &mut bool, named: &mut bool) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let is_label =
                        matches!(key.as_str(), "mimeType" | "mime_type" | "media_type" | "format");
                    if let (true, Some(label)) = (is_label, value.as_str()) {
                        says.push(label.to_ascii_lowercase());
                    }
                    if let (true, Some(_)) =
                        (matches!(key.as_str(), "fileUri" | "file_uri"), value.as_str())
                    {
                        *named = true;
                    }
                    look(value, says, bytes, named);
                }
            }
            Value::Array(list) => list.iter().for_each(|value| look(value, says, bytes, named)),
            Value::String(text) => {
                if let Some(label) = text.strip_prefix("data:") {
                    says.push(label.split([';', ',']).next().unwrap_or_default().to_owned());
                }
                *bytes |= begins_as_picture(text);
            }
            _ => {}
        }
    }
    let value: Value = serde_json::from_str(part.get()).unwrap_or_default();
    let (mut says, mut bytes, mut named) = (Vec::new(), false, false);
    look(&value, &mut says, &mut bytes, &mut named);
    let moves = says.iter().any(|label| label.starts_with("video/") || label.starts_with("audio/"));
    let labeled = named && says.iter().any(|label| label.starts_with("image/"));
    !moves && (bytes || labeled) && value.get("input_audio").is_none()
}

fn begins_as_picture(text: &str) -> bool {
    first_bytes(text).is_some_and(|bytes| sniff(&bytes).is_some())
}

/// Returns the first bytes of a string of base64, or of a data URL.
fn first_bytes(text: &str) -> Option<Vec<u8>> {
    let base64 = text.split_once(";base64,").map_or(text, |(_, base64)| base64);
    let head: String = base64.chars().filter(|c| !c.is_whitespace()).take(64).collect();
    if !head.is_ascii() {
        return None;
    }
    let head = head.replace('-', "+").replace('_', "/");
    let whole = head.trim_end_matches('=').len() / 4 * 4;
    STANDARD.decode(&head[..whole]).ok().filter(|bytes| bytes.len() >= 12)
}

/// Returns `true` if a JSON string holds a film or a sound, by its first bytes.
fn is_film_or_sound(raw: &str) -> bool {
    let text: String = serde_json::from_str(raw).unwrap_or_default();
    first_bytes(&text).is_some_and(|bytes| plays(&bytes))
}

/// Returns `true` if the first bytes are those of a film or a sound.
pub(super) fn plays(bytes: &[u8]) -> bool {
    let iso = bytes.get(4..8) == Some(b"ftyp") && sniff(bytes).is_none();
    iso || [&b"OggS"[..], b"fLaC", b"ID3"].iter().any(|magic| bytes.starts_with(magic))
        || (bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE"))
}
