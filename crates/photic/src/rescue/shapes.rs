//! The shapes in which SDKs and tools spell a medium: typed parts, lists of them, plain strings.

use std::borrow::Cow;

use super::Rescued;
use super::candidate::hex_payload;
use super::flat::picture;
use super::prefix::strip_prefix;
use crate::json::{Kind, Str, Value};
use crate::media::{
    DataUrl, MediaKind, Payload, Source, has_weak_magic, is_web_address, says_film_or_sound,
    sniff_kind, text_begins_like_image, whole_string_image,
};

/// The members that SDKs give their parts. None of them holds content for the model.
pub(super) const KNOWN_MEMBERS: [&str; 34] = [
    "type",
    "text",
    "data",
    "dataBase64",
    "base64",
    "blob",
    "url",
    "uri",
    "image",
    "image_url",
    "source",
    "file",
    "file_data",
    "file_id",
    "resource",
    "mediaType",
    "mimeType",
    "mime_type",
    "media_type",
    "filename",
    "name",
    "title",
    "detail",
    "annotations",
    "_meta",
    "providerOptions",
    "cache_control",
    "is_error",
    "source_type",
    "meta",
    "kind",
    "identifier",
    "vendor_metadata",
    "force_download",
];

/// The parts of an MCP tool's result, and its structured content for programs.
pub(super) struct Spelled<'d, 'a> {
    pub(super) list: Value<'d, 'a>,
    pub(super) structured: Option<Value<'d, 'a>>,
}

/// Finds the list of parts in `{"content": […]}` (a tool result of MCP) or
/// `{"type":"content","value":[…]}` (an output of the AI SDK), if nothing beside it would be lost.
/// Some SDKs write every absent member as null, with underscores.
pub(super) fn list_within<'d, 'a>(value: Value<'d, 'a>) -> Option<Spelled<'d, 'a>> {
    let mut list = None;
    let mut structured = None;
    for (key, member) in value.entries().filter(|(_, member)| !member.is_null()) {
        match &*key.decode() {
            "content" | "value" if member.kind() == Kind::Array => list = Some(member),
            "type" if member.is("content") => {}
            "isError" | "is_error" if member.bool() == Some(false) => {}
            "structuredContent" | "structured_content" => structured = Some(member),
            "resultType" | "result_type" if member.is("complete") => {}
            _ => return None,
        }
    }
    list.map(|list| Spelled { list, structured })
}

/// The structured content of an MCP tool's result. Servers are asked to repeat it as text.
pub(crate) struct Structured(Option<serde_json::Value>);

impl Structured {
    pub(crate) fn of(value: Value<'_, '_>) -> Self {
        let raw = value.raw();
        let text = if value.is_escaped() {
            Str::Escaped(raw).decode()
        } else {
            String::from_utf8_lossy(raw)
        };
        Self(serde_json::from_str(&text).ok())
    }

    /// Returns `true` if a text is its JSON, or that of the `result` that a server wrapped to make
    /// it an object. White space and the order of members do not count.
    pub(crate) fn is_said_by(&self, text: &Str<'_>) -> bool {
        let said = serde_json::from_str::<serde_json::Value>(&text.decode());
        let (Some(meant), Ok(said)) = (&self.0, said) else { return false };
        let is_wrapped = meant.as_object().is_some_and(|object| object.len() == 1);
        said == *meant || (is_wrapped && meant.get("result") == Some(&said))
    }
}

/// Reads a medium spelled as an object with a `type`. Returns it with the node that holds its
/// bytes.
pub(super) fn typed_media<'a>(value: Value<'_, 'a>, type_name: &str) -> Option<(Rescued<'a>, u32)> {
    const TYPES: [&str; 15] = [
        "image",
        "image-data",
        "image-url",
        "image_url",
        "input_image",
        "media",
        "file",
        "file-data",
        "file-url",
        "input_file",
        "document",
        "audio",
        "resource",
        "image-file-id",
        "binary",
    ];
    if !TYPES.contains(&type_name) {
        return None;
    }
    let holder = ["source", "image_url", "file", "resource", "data"]
        .iter()
        .find_map(|name| value.get(name).filter(|inner| inner.kind() == Kind::Object))
        .unwrap_or(value);
    let declared = ["mediaType", "mimeType", "mime_type", "media_type"]
        .iter()
        .find_map(|name| holder.get(name).or_else(|| value.get(name)))
        .and_then(|label| label.str());
    let name = ["filename", "name", "title"].iter().find_map(|name| value.get(name)?.str());
    let bytes = ["data", "dataBase64", "base64", "blob", "url", "image_url", "file_data", "image"]
        .iter()
        .find_map(|name| holder.get(name).filter(|inner| !inner.is_null()))?;
    let Some(text) = bytes.str() else {
        let payload = Payload::encode(&spelled_bytes(bytes)?);
        let kind = sniff_kind(&payload.header())?;
        let source = Source::Data(payload);
        return Some((
            Rescued { kind, source, declared, name, inner: None, typed: true },
            bytes.id(),
        ));
    };
    let says_film_or_sound = type_name == "audio"
        || declared.as_ref().is_some_and(|label| says_film_or_sound(&label.decode()));
    let says_image = type_name.contains("image")
        || declared.as_ref().is_some_and(|label| label.decode().starts_with("image/"));
    let source = if let Some(url) = DataUrl::parse(&text, bytes.has_base64_tail()) {
        Source::Data(url.payload?)
    } else if is_web_address(&text) {
        Source::Url(text)
    } else {
        Source::Data(Payload::read(&text, bytes.has_base64_tail())?.0)
    };
    let kind = match &source {
        // The bytes decide. The label counts only if they are not recognized.
        Source::Data(payload) => sniff_kind(&payload.header())
            .filter(|kind| !(says_film_or_sound && *kind == MediaKind::Image))?,
        _ if says_image => MediaKind::Image,
        _ => return None,
    };
    Some((Rescued { kind, source, declared, name, inner: None, typed: true }, bytes.id()))
}

/// Reads bytes that a JSON writer spelled out: a list of numbers, Node's `Buffer`, or the object
/// with the keys 0, 1, 2, … that a typed array becomes (AI SDK 7 sends downloaded images so).
pub(crate) fn spelled_bytes(value: Value<'_, '_>) -> Option<Vec<u8>> {
    let byte = |number: Value<'_, '_>| number.u64().and_then(|number| u8::try_from(number).ok());
    match value.kind() {
        Kind::Array => value.items().map(byte).collect(),
        Kind::Object if value.get("type").is_some_and(|name| name.is("Buffer")) => {
            spelled_bytes(value.get("data").filter(|list| list.kind() == Kind::Array)?)
        }
        Kind::Object => value
            .entries()
            .enumerate()
            .map(|(index, (key, number))| byte(number).filter(|_| key.is(&index.to_string())))
            .collect(),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
    }
}

/// Reads one whole picture that fills the string: a data URL, bare base64 with or without a
/// prefix, or hexadecimal digits.
pub(super) fn whole_string<'a>(text: &Str<'a>, tail_is_base64: bool) -> Option<Rescued<'a>> {
    if is_word(text.bytes()) {
        return None;
    }
    let (payload, declared) = match DataUrl::parse(text, tail_is_base64) {
        Some(url) => (url.payload?, url.media_type),
        None => match whole_string_image(text, tail_is_base64) {
            Some(payload) => (payload, None),
            None => (announced(text).or_else(|| hexadecimal(text))?, None),
        },
    };
    is_whole(&payload).then(|| Rescued { declared, ..picture(payload) })
}

/// Returns `true` if a text begins with two letters with which no picture begins, however it is
/// spelled. Most texts do.
fn is_word(text: &[u8]) -> bool {
    let &[first, second, ..] = text else { return false };
    first.is_ascii_alphabetic()
        && second.is_ascii_lowercase()
        && !matches!(
            (first.to_ascii_lowercase(), second),
            // `data:`, `image/`, `base64`, hexadecimal digits of a JPEG, `UklG` and `Qk` in base64.
            (b'd' | b'b', b'a') | (b'i', b'm') | (b'f', b'f') | (b'u' | b'q', b'k')
        )
}

/// Reads base64 behind `base64:`, `base64,` or `image/png;base64,`.
fn announced<'a>(text: &Str<'a>) -> Option<Payload<'a>> {
    let start = text.start();
    ["base64", "image"].iter().find(|word| {
        start.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    })?;
    match text.decode() {
        Cow::Borrowed(plain) => {
            let rest = strip_prefix(plain.trim_ascii_start())?;
            Payload::read(&Str::plain(rest), false).map(|(payload, _)| payload)
        }
        Cow::Owned(plain) => Payload::forgiving(strip_prefix(plain.trim_ascii_start())?),
    }
}

fn hexadecimal(text: &Str<'_>) -> Option<Payload<'static>> {
    hex_payload(text.bytes().trim_ascii())
}

/// Returns `true` for one whole raster picture. An SVG is text, which a model reads better than a
/// notice.
fn is_whole(payload: &Payload<'_>) -> bool {
    payload.is_whole_picture() && {
        let header = payload.header();
        header.is_image() && header.size.is_some() && !has_weak_magic(&header)
    }
}

/// Returns `true` if an object says that it is a picture, as the parts of SDKs do. The media type
/// of an icon in a file (`"type": "image/png"`) does not count.
pub(super) fn names_picture(object: Value<'_, '_>) -> bool {
    object.entries().any(|(key, value)| match &*key.decode() {
        "type" | "kind" => {
            let is_type = |name: &str| name.contains("image") && !name.contains('/');
            value.str().is_some_and(|name| is_type(&name.decode()))
        }
        "mimeType" | "mediaType" | "mime_type" | "media_type" => {
            value.str().is_some_and(|label| label.decode().starts_with("image/"))
        }
        _ => false,
    })
}

/// Reads one whole picture that JSON does not spell as one string: its bytes as numbers, or its
/// base64 as a list of lines.
pub(super) fn spelled_picture(value: Value<'_, '_>) -> Option<Rescued<'static>> {
    let payload = if begins_like_bytes(value) {
        Payload::encode(&spelled_bytes(value)?)
    } else {
        let first = value.items().next()?.str()?;
        if !text_begins_like_image(&first) || value.items().nth(1).is_none() {
            return None;
        }
        let lines: Option<Vec<_>> = value.items().map(|line| line.str()).collect();
        let joined: String = lines?.iter().map(Str::decode).collect();
        Payload::forgiving(&joined)?
    };
    is_whole(&payload).then(|| picture(payload))
}

/// Returns `true` if a value could be bytes that begin like a picture, judging by its first
/// member.
fn begins_like_bytes(value: Value<'_, '_>) -> bool {
    /// The first byte of PNG, JPEG, GIF, RIFF, BMP and the two TIFFs; ISO files begin with zeros.
    const FIRST: [u64; 8] =
        [0x89, 0xff, b'G' as u64, b'R' as u64, b'B' as u64, b'I' as u64, b'M' as u64, 0];
    let is_first = |value: Value<'_, '_>| value.u64().is_some_and(|byte| FIRST.contains(&byte));
    match value.kind() {
        Kind::Array => value.items().next().is_some_and(is_first),
        Kind::Object => value.entries().next().is_some_and(|(key, first)| {
            (key.is("0") && is_first(first))
                || (key.is("type") && first.is("Buffer"))
                || (key.is("data") && value.get("type").is_some_and(|name| name.is("Buffer")))
        }),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => false,
    }
}

/// Returns the type of a part, which pydantic-ai calls its kind.
pub(super) fn type_of<'a>(part: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    let name = part.get("type").or_else(|| part.get("kind"))?;
    Some(name.str()?.decode())
}

/// Reads a medium from a typed part whose type the reader's own wire does not have.
pub(crate) fn typed_part_of_another_wire<'a>(part: Value<'_, 'a>) -> Option<Rescued<'a>> {
    typed_media(part, &type_of(part)?).map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_beginning_of_a_picture_is_taken_for_a_word() {
        let beginnings = [
            "data:",
            "image/png;base64,",
            "base64,",
            "iVBORw0KGgo",
            "/9j/",
            "_9j",
            "R0lGOD",
            "UklGR",
            "Qk",
            "SUkqA",
            "TU0AK",
            "AAAA",
            "89504e47",
            "ffd8ff",
            "474946383",
            "52494646",
        ];
        for beginning in beginnings {
            for text in [beginning.to_owned(), beginning.to_uppercase(), beginning.to_lowercase()] {
                // Prefixes and hexadecimal digits may be in any case, base64 may not.
                let is_spelled =
                    text == beginning || !text_begins_like_image(&Str::plain(beginning));
                assert!(!is_spelled || !is_word(text.as_bytes()), "{text}");
            }
        }
        for text in ["Look", "the page", "I see", "ok"] {
            assert_eq!(is_word(text.as_bytes()), text.as_bytes()[1].is_ascii_lowercase(), "{text}");
        }
    }
}
