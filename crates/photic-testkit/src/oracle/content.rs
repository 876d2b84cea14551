//! The parts that the two `OpenAI` wires write alike: an image by URL, a file, a sound.
//!
//! This module owns data URLs and their canonical form. It must never decide whether a part is
//! allowed in its place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::seen::{Audio, Document, Source};
use super::witness::{PartOrigin, Witness};

/// Reads the `detail` of an image: one of a few words, and required if the rules say so.
pub(super) fn detail<'v>(
    w: &mut Witness<'_>,
    object: &'v Map<String, Value>,
    at: &str,
) -> Option<&'v str> {
    w.one_of(object, "detail", at, w.rules.details);
    let detail = object.get("detail").and_then(Value::as_str);
    if detail.is_none() && w.rules.needs_detail {
        w.violate("detail_missing", at, "Missing required parameter: 'detail'.");
    }
    detail
}

/// Reads the image behind a URL: an `http(s)` address or a canonical data URL.
pub(super) fn image_url(w: &mut Witness<'_>, place: &PartOrigin, url: &str, detail: Option<&str>) {
    if let Some((media_type, data)) = data_url(url) {
        w.inline(place, media_type, data, detail);
    } else if starts_with_ignoring_case(url, "data:") {
        let text = "Expected a base64-encoded data URL with an image MIME type \
                    (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')";
        w.violate("data_url_invalid", &place.at, text);
    } else if is_address(w, url) {
        w.remote(place, Source::Remote(url.to_owned()), detail);
    } else {
        w.violate("image_url_invalid", &place.at, "Invalid image URL.");
    }
}

/// Returns `true` if the endpoint may open an address: on the web, or on its own machine if it
/// allows that.
pub(super) fn is_address(w: &Witness<'_>, url: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| starts_with_ignoring_case(url, scheme))
        || (w.rules.local_paths && starts_with_ignoring_case(url, "file://"))
}

/// Reads exactly `data:<type>;base64,<data>`: lower case, a type and a subtype, no parameters.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let (kind, subtype) = media_type.split_once('/')?;
    let token = |s: &str| {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b);
        !s.is_empty() && s.bytes().all(allowed)
    };
    (token(kind) && token(subtype)).then_some((media_type, data))
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// Reads a file: bytes as a data URL (or bare base64), an id, or an address if the wire has it.
pub(super) fn file(w: &mut Witness<'_>, place: &PartOrigin, file: &Map<String, Value>) {
    let field = |key: &str| file.get(key).and_then(Value::as_str);
    let name = field("filename").map(str::to_owned);
    if let Some(name) = &name {
        w.scan(&format!("{}/filename", place.at), name, false);
    }
    let (media_type, source) = if let Some(data) = field("file_data") {
        let (media_type, data) = data_url(data).map_or((None, data), |(t, d)| (Some(t), d));
        let Ok(bytes) = STANDARD.decode(data) else {
            w.violate("base64_invalid", &place.at, "Invalid file data: expected a base64 data URL");
            return;
        };
        if bytes.is_empty() {
            w.violate("document_invalid", &place.at, "The file is empty.");
        }
        (media_type.map(str::to_owned), Source::Inline(bytes))
    } else if let Some(id) = field("file_id") {
        (None, Source::File(id.to_owned()))
    } else if let Some(url) = field("file_url") {
        (None, Source::Remote(url.to_owned()))
    } else {
        w.violate("field_missing", &place.at, "Missing required parameter: 'file_data'.");
        return;
    };
    let (slot, owner, pointer) = (place.slot, place.owner.clone(), place.at.clone());
    w.document(Document { slot, owner, media_type, name, source, pointer });
}

/// Reads a sound: base64 and one of the formats that the endpoint takes.
pub(super) fn audio(w: &mut Witness<'_>, place: &PartOrigin, part: &Map<String, Value>) {
    let at = format!("{}/input_audio", place.at);
    let Some(audio) = w.object(part.get("input_audio"), &at) else { return };
    w.one_of(audio, "format", &at, w.rules.audio_formats);
    let (data, format) = (w.string(audio, "data", &at), w.string(audio, "format", &at));
    let (Some(data), Some(format)) = (data, format) else { return };
    match STANDARD.decode(data) {
        Ok(bytes) => {
            let (format, pointer) = (format.to_owned(), place.at.clone());
            w.seen.audio.push(Audio { slot: place.slot, format, bytes, pointer });
        }
        Err(_) => w.violate("base64_invalid", &at, "Invalid base64 audio data"),
    }
}

/// Reads a sound that is only its base64.
pub(super) fn short_audio(w: &mut Witness<'_>, place: &PartOrigin, part: &Map<String, Value>) {
    let Some(data) = w.string(part, "input_audio", &place.at) else { return };
    match STANDARD.decode(data) {
        Ok(bytes) => {
            let (format, pointer) = (String::new(), place.at.clone());
            w.seen.audio.push(Audio { slot: place.slot, format, bytes, pointer });
        }
        Err(_) => w.violate("base64_invalid", &place.at, "Invalid base64 audio data"),
    }
}

/// Reads a document by its address, or by its id beside the type.
pub(super) fn short_document(
    w: &mut Witness<'_>,
    place: &PartOrigin,
    part: &Map<String, Value>,
    kind: &str,
) {
    let mut file = Map::new();
    let (from, to) =
        if kind == "file" { ("file_id", "file_id") } else { ("document_url", "file_url") };
    w.fields(part, &place.at, &["type", from, "document_name"]);
    let Some(value) = w.string(part, from, &place.at) else { return };
    let is_data = kind != "file" && starts_with_ignoring_case(value, "data:");
    file.insert(if is_data { "file_data" } else { to }.to_owned(), value.into());
    if let Some(name) = part.get("document_name") {
        file.insert("filename".to_owned(), name.clone());
    }
    self::file(w, place, &file);
}

/// The parts that may carry a `prompt_cache_breakpoint`.
const MARKED: [&str; 8] = [
    "text",
    "refusal",
    "image_url",
    "input_audio",
    "file",
    "input_text",
    "input_image",
    "input_file",
];

/// Checks the cache breakpoints of the two `OpenAI` wires. Unless the request says that it sets
/// all of them itself, the service sets one more on the latest message.
pub(super) fn breakpoints(w: &mut Witness<'_>, body: &Map<String, Value>, list_name: &str) {
    fn find(value: &Value, at: &str, found: &mut Vec<(String, bool)>) {
        match value {
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    find(value, &format!("{at}/{index}"), found);
                }
            }
            Value::Object(object) => {
                if object.get("prompt_cache_breakpoint").is_some_and(|mark| !mark.is_null()) {
                    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
                    found.push((at.to_owned(), MARKED.contains(&kind)));
                }
                for key in ["content", "output"] {
                    if let Some(value) = object.get(key).filter(|value| value.is_array()) {
                        find(value, &format!("{at}/{key}"), found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(list) = body.get(list_name) {
        find(list, &format!("/{list_name}"), &mut found);
    }
    if found.is_empty() {
        return;
    }
    for (at, _) in found.iter().filter(|(_, may)| !may) {
        let text = "Unknown parameter: 'prompt_cache_breakpoint'.";
        w.violate("breakpoint_misplaced", at, text);
    }
    let explicit =
        body.get("prompt_cache_options").is_some_and(|options| options["mode"] == "explicit");
    w.breakpoints(found.len() + usize::from(!explicit));
}
