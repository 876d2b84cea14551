//! The content blocks of a Messages request.
//!
//! This module owns the roles in which a block is allowed, and the shape of each. It must never
//! look beyond its own block: order and pairing belong to the turns.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::oracle::content::is_address;
use crate::oracle::seen::{Document, Slot, Source, ToolResult};
use crate::oracle::witness::{PartOrigin, Witness};

const RESULT: [&str; 6] =
    ["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"];
/// Blocks that the model or the service wrote: known, and sent again unchanged.
const OPAQUE: [&str; 11] = [
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
    "compaction",
    "tool_reference",
    "browser_state",
    "fallback",
    "mid_conv_system",
];

/// One block and its pointer. Plain string content counts as one text.
pub(super) struct Block<'v> {
    pub(super) at: String,
    what: What<'v>,
}

enum What<'v> {
    Plain(&'v str),
    Part(&'v Value),
}

impl<'v> Block<'v> {
    pub(super) fn kind(&self) -> &'v str {
        match self.what {
            What::Plain(_) => "text",
            What::Part(part) => part["type"].as_str().unwrap_or_default(),
        }
    }

    pub(super) fn id(&self, key: &str) -> Option<&'v str> {
        match self.what {
            What::Plain(_) => None,
            What::Part(part) => part.get(key)?.as_str(),
        }
    }

    /// Returns the caller of a tool, if the block names it.
    pub(super) fn caller(&self) -> Option<&'v str> {
        match self.what {
            What::Plain(_) => None,
            What::Part(part) => part.get("caller")?["type"].as_str(),
        }
    }
}

/// Reads the content of a message as blocks. Only the last assistant message may be empty.
pub(super) fn of<'v>(
    w: &mut Witness<'_>,
    content: Option<&'v Value>,
    at: &str,
    may_be_empty: bool,
) -> Vec<Block<'v>> {
    let blocks = match content {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Block { at: at.to_owned(), what: What::Plain(text) }],
        Some(Value::Array(parts)) => {
            let part =
                |(index, part)| Block { at: format!("{at}/{index}"), what: What::Part(part) };
            parts.iter().enumerate().map(part).collect()
        }
        _ => {
            w.violate("field_type", at, "content: Input should be a valid list");
            return Vec::new();
        }
    };
    if blocks.is_empty() && !may_be_empty {
        let text = "messages: all messages must have non-empty content except for the optional final assistant message";
        w.violate("content_empty", at, text);
    }
    blocks
}

/// Reads one block of a turn.
pub(super) fn read(w: &mut Witness<'_>, slot: Slot, block: &Block<'_>) {
    let place = PartOrigin::new(slot, &block.at);
    // The first block of a message. A label does not carry over from the message before.
    if block.at.ends_with("/content") || block.at.ends_with("/content/0") {
        w.content();
    }
    match block.what {
        What::Plain(plain) => words(w, &place, plain),
        What::Part(part) => self::part(w, &place, part),
    }
}

fn part(w: &mut Witness<'_>, place: &PartOrigin, part: &Value) {
    let Some(object) = w.object(Some(part), &place.at) else { return };
    let Some(kind) = w.string(object, "type", &place.at) else { return };
    let roles: &[Slot] = match kind {
        "text" => &[Slot::User, Slot::Assistant, Slot::System, Slot::ToolResult],
        "image" | "document" | "search_result" => &[Slot::User, Slot::ToolResult],
        "tool_result" => &[Slot::User],
        "tool_use" => &[Slot::Assistant],
        _ if OPAQUE.contains(&kind) || kind.ends_with("_tool_result") => return,
        _ => return w.unknown_part(&place.at, kind),
    };
    if !roles.contains(&place.slot) {
        let code = if kind == "image" { "image_wrong_role" } else { "part_wrong_role" };
        let text = format!("`{kind}` blocks are not allowed in {:?} content", place.slot);
        w.violate(code, &place.at, text);
    }
    match kind {
        "text" => text(w, place, part),
        "image" => image(w, place, object),
        "document" => document(w, place, object),
        "search_result" => search_result(w, place, object),
        "tool_result" => result(w, place, object),
        _ => call(w, place, object),
    }
}

/// Reads a text block, which must not be blank.
pub(super) fn text(w: &mut Witness<'_>, place: &PartOrigin, part: &Value) {
    let Some(object) = w.object(Some(part), &place.at) else { return };
    w.fields(object, &place.at, &["type", "text", "cache_control", "citations"]);
    if let Some(text) = w.string(object, "text", &place.at) {
        words(w, &place.down("text"), text);
    }
}

fn words(w: &mut Witness<'_>, place: &PartOrigin, text: &str) {
    if text.is_empty() {
        w.violate("text_empty", &place.at, "messages: text content blocks must be non-empty");
    } else if text.trim().is_empty() {
        let text = "messages: text content blocks must contain non-whitespace text";
        w.violate("text_empty", &place.at, text);
    }
    w.text(place, text);
}

fn call(w: &mut Witness<'_>, place: &PartOrigin, call: &Map<String, Value>) {
    let at = &place.at;
    w.fields(call, at, &["type", "id", "name", "input", "cache_control", "caller"]);
    let (id, name) = (w.string(call, "id", at), w.string(call, "name", at));
    let Some(input) = w.object(call.get("input"), &format!("{at}/input")) else { return };
    let (Some(id), Some(name)) = (id, name) else { return };
    pattern(w, at, "tool_use.id", id);
    w.call(at, id, name, Value::Object(input.clone()).to_string());
}

fn pattern(w: &mut Witness<'_>, at: &str, field: &str, id: &str) {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if id.is_empty() || !id.bytes().all(allowed) {
        let text = format!("{field}: String should match pattern '^[a-zA-Z0-9_-]+$'");
        w.violate("id_pattern", at, text);
    }
}

fn result(w: &mut Witness<'_>, place: &PartOrigin, result: &Map<String, Value>) {
    let at = &place.at;
    w.fields(result, at, &RESULT);
    let Some(id) = w.string(result, "tool_use_id", at) else { return };
    pattern(w, at, "tool_result.tool_use_id", id);
    let is_error = result.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let (texts, images) = (w.seen.texts.len(), w.seen.images.len());
    let inside = PartOrigin::result(id, format!("{at}/content"));
    // Code reads this result; the model does not.
    w.unread = w.for_code.iter().any(|call| call == id);
    w.content();
    match result.get("content") {
        None => {}
        // A tool may return nothing.
        Some(Value::String(text)) if text.is_empty() && !is_error => {}
        Some(Value::String(text)) if text.is_empty() => empty(w, &inside.at),
        Some(Value::String(text)) => w.text(&inside, text),
        Some(Value::Array(parts)) => {
            if parts.is_empty() {
                empty(w, &inside.at);
            }
            for (index, part) in parts.iter().enumerate() {
                let inside = inside.down(index);
                if is_error && part["type"] != "text" {
                    let text = "tool_result: all content must be type `text` if `is_error` is true";
                    w.violate("error_result_media", &inside.at, text);
                }
                self::part(w, &inside, part);
            }
        }
        Some(_) => w.violate("field_type", &inside.at, "content: Input should be a valid list"),
    }
    w.unread = false;
    let text: Vec<&str> = w.seen.texts[texts..].iter().map(|text| text.text.as_str()).collect();
    let (text, images) = (text.join("\n"), w.seen.images.len() - images);
    if is_error && text.is_empty() {
        let text = "tool_result: content cannot be empty if `is_error` is true";
        w.violate("error_result_empty", at, text);
    }
    w.content();
    let (call_id, pointer) = (id.to_owned(), at.clone());
    w.seen.results.push(ToolResult { call_id, text, is_error, images, pointer });
}

fn empty(w: &mut Witness<'_>, at: &str) {
    w.violate("tool_content_empty", at, "tool_result: content cannot be empty");
}

fn image(w: &mut Witness<'_>, place: &PartOrigin, block: &Map<String, Value>) {
    w.fields(block, &place.at, &["type", "source", "cache_control", "transformations"]);
    let at = format!("{}/source", place.at);
    let Some(source) = w.object(block.get("source"), &at) else { return };
    match w.string(source, "type", &at) {
        Some("base64") => {
            w.fields(source, &at, &["type", "media_type", "data"]);
            let media_type = w.string(source, "media_type", &at);
            let (Some(media_type), Some(data)) = (media_type, w.string(source, "data", &at)) else {
                return;
            };
            if data.starts_with("data:") {
                let text = "image.source.base64.data: invalid base64 data: it has a `data:` prefix";
                w.violate("base64_prefix", &at, text);
            } else {
                w.inline(place, media_type, data, None);
            }
        }
        Some("url") => {
            if let Some(url) = w.string(source, "url", &at) {
                if !is_address(w, url) {
                    w.violate("image_url_invalid", &at, "Only HTTP and HTTPS URLs are supported");
                }
                w.remote(place, Source::Remote(url.to_owned()), None);
            }
        }
        Some("file") => {
            if let Some(id) = w.string(source, "file_id", &at) {
                w.remote(place, Source::File(id.to_owned()), None);
            }
        }
        Some(other) => w.unknown_part(&at, other),
        None => {}
    }
}

/// Reads a search result: a source, a title, and texts.
fn search_result(w: &mut Witness<'_>, place: &PartOrigin, block: &Map<String, Value>) {
    let known = ["type", "source", "title", "content", "citations", "cache_control"];
    w.fields(block, &place.at, &known);
    for key in ["source", "title"] {
        if let Some(text) = w.string(block, key, &place.at) {
            w.scan(&format!("{}/{key}", place.at), text, false);
        }
    }
    let inside = place.down("content");
    let Some(parts) = block.get("content").and_then(Value::as_array) else {
        w.violate("field_type", &inside.at, "search_result.content: Input should be a valid list");
        return;
    };
    if parts.is_empty() {
        w.violate("content_empty", &inside.at, "search_result.content: at least one text block");
    }
    for (index, part) in parts.iter().enumerate() {
        let inside = inside.down(index);
        if part["type"] == "text" {
            text(w, &inside, part);
        } else {
            let text = "search_result.content: Input should be of type 'text'";
            w.violate("part_wrong_role", &inside.at, text);
        }
    }
}

fn document(w: &mut Witness<'_>, place: &PartOrigin, block: &Map<String, Value>) {
    let known = ["type", "source", "title", "context", "citations", "cache_control"];
    w.fields(block, &place.at, &known);
    for key in ["title", "context"] {
        if let Some(text) = block.get(key).and_then(Value::as_str) {
            w.scan(&format!("{}/{key}", place.at), text, false);
        }
    }
    let at = format!("{}/source", place.at);
    let Some(object) = w.object(block.get("source"), &at) else { return };
    let Some(kind) = w.string(object, "type", &at) else { return };
    let source = match kind {
        "base64" => {
            if object.get("media_type").is_some_and(|label| label != "application/pdf") {
                let text = "document.source.base64.media_type: Input should be 'application/pdf'";
                w.violate("media_type_unsupported", &at, text);
            }
            w.string(object, "data", &at).and_then(|data| pdf(w, &at, data))
        }
        "text" => w.string(object, "data", &at).map(|text| {
            w.text(&PartOrigin { at: format!("{at}/data"), ..place.clone() }, text);
            Source::Inline(text.as_bytes().to_vec())
        }),
        "url" => w.string(object, "url", &at).map(|url| Source::Remote(url.to_owned())),
        "file" => w.string(object, "file_id", &at).map(|id| Source::File(id.to_owned())),
        "content" => {
            nested(w, &PartOrigin { at: format!("{at}/content"), ..place.clone() }, object);
            Some(Source::Inline(Vec::new()))
        }
        _ => return w.unknown_part(&at, kind),
    };
    let field = |object: &Map<String, Value>, key: &str| {
        object.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    if let Some(source) = source {
        w.document(Document {
            slot: place.slot,
            owner: place.owner.clone(),
            media_type: field(object, "media_type"),
            name: field(block, "title"),
            source,
            pointer: place.at.clone(),
        });
    }
}

fn pdf(w: &mut Witness<'_>, at: &str, data: &str) -> Option<Source> {
    let Ok(bytes) = STANDARD.decode(data) else {
        w.violate("base64_invalid", at, "document.source.base64.data: invalid base64 data");
        return None;
    };
    if !bytes.starts_with(b"%PDF-") {
        w.violate("document_invalid", at, "The PDF specified was not valid.");
    }
    Some(Source::Inline(bytes))
}

/// Reads the content of a document made of blocks.
fn nested(w: &mut Witness<'_>, place: &PartOrigin, source: &Map<String, Value>) {
    match source.get("content") {
        Some(Value::String(text)) => w.text(place, text),
        Some(Value::Array(parts)) => {
            for (index, part) in parts.iter().enumerate() {
                self::part(w, &place.down(index), part);
            }
        }
        _ => w.violate("field_type", &place.at, "content: Input should be a valid list"),
    }
}
