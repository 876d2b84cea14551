//! Reads the bytes of a medium in a dump: one reader for the many spellings of the same few facts.

use super::first;
use crate::json::{Kind, Str, Value};
use crate::lift::medium;
use crate::media::{
    DataUrl, Found, Media, MediaKind, Payload, Source, is_type, is_web_address, proper_name,
    sniff_kind,
};
use crate::rescue::spelled_bytes;

const TYPES: [&str; 4] = ["mediaType", "mimeType", "media_type", "mime_type"];
const BYTES: [&str; 9] =
    ["base64", "data", "dataBase64", "blob", "image", "file_data", "url", "image_url", "file_url"];
const IDS: [&str; 5] = ["fileId", "file_id", "mediaRef", "providerReference", "reference"];

/// Returns the medium of a part, or `None` if it holds none that a transcript can express.
pub(super) fn of_part<'a>(part: Value<'_, 'a>) -> Option<Media<'a>> {
    let inner = |name: &&str| part.get(name).filter(|inner| inner.kind() == Kind::Object);
    let holder = ["source", "image_url", "input_audio", "file", "resource"]
        .iter()
        .find_map(inner)
        .unwrap_or(part);
    let declared =
        first(holder, &TYPES).or_else(|| first(part, &TYPES)).and_then(|label| label.str());
    let mut media = in_holder(holder, declared, named_kind(part))?;
    media.name = first(part, &["filename", "name", "title"]).and_then(|name| name.str());
    media.detail = holder.get("detail").and_then(|detail| detail.str());
    Some(media)
}

fn in_holder<'a>(
    holder: Value<'_, 'a>,
    declared: Option<Str<'a>>,
    named: Option<MediaKind>,
) -> Option<Media<'a>> {
    let says = |name: &str, word: &str| holder.get(name).is_some_and(|value| value.is(word));
    let is_words =
        says("source_type", "text") || says("type", "text") || says("type", "text-plain");
    if let Some(words) = holder.get("text").filter(|words| is_words && words.kind() == Kind::String)
    {
        let source = Source::Text(words.str()?);
        return Some(medium(MediaKind::Document, source, None, Found::Typed, words.id()));
    }
    let Some(mut bytes) = first(holder, &BYTES) else {
        let id = first(holder, &IDS)
            .or_else(|| holder.get("id").filter(|_| says("source_type", "id")))?;
        // Some give one id for each provider. Which one is meant is unknown.
        let name = id.str().unwrap_or_else(|| Str::Plain(String::from_utf8_lossy(id.raw())));
        let kind = kind_of(declared.as_ref()).or(named).unwrap_or(MediaKind::Document);
        return Some(medium(kind, Source::File(name), None, Found::Typed, id.id()));
    };
    // AI SDK 7 labels its data: bytes, an address, text, or a name at each provider.
    if bytes.kind() == Kind::Object && bytes.get("type").is_some_and(|name| !name.is("Buffer")) {
        return in_tagged(bytes, declared, named);
    }
    if let Some(address) = bytes.get("url") {
        bytes = address;
    }
    let (source, label) = source(bytes);
    judged(bytes, source, declared.or(label), named)
}

fn in_tagged<'a>(
    tagged: Value<'_, 'a>,
    declared: Option<Str<'a>>,
    named: Option<MediaKind>,
) -> Option<Media<'a>> {
    let (source, label) = match first(tagged, &["data", "url"]) {
        Some(bytes) => source(bytes),
        None => match (tagged.get("text").and_then(|words| words.str()), first(tagged, &IDS)) {
            (Some(words), _) => (Source::Text(words), None),
            (None, Some(id)) => (Source::File(Str::Plain(String::from_utf8_lossy(id.raw()))), None),
            (None, None) => (Source::Missing, None),
        },
    };
    judged(tagged, source, declared.or(label), named)
}

/// Reads the source of the bytes from a value, and the type that the value names, if any.
fn source<'a>(value: Value<'_, 'a>) -> (Source<'a>, Option<Str<'a>>) {
    let Some(text) = value.str() else {
        let bytes = spelled_bytes(value).filter(|bytes| !bytes.is_empty());
        return (
            bytes.map_or(Source::Missing, |bytes| Source::Data(Payload::encode(&bytes))),
            None,
        );
    };
    let tail = value.has_base64_tail();
    if let Some(url) = DataUrl::parse(&text, tail) {
        return (url.payload.map_or(Source::Missing, Source::Data), url.media_type);
    }
    if is_web_address(&text) {
        return (Source::Url(text), None);
    }
    match Payload::read(&text, tail) {
        Some((payload, _)) => (Source::Data(payload), None),
        // Addresses of other schemes are between a client and its provider.
        None if text.bytes().contains(&b':') => (Source::Url(text), None),
        None => (Source::Missing, None),
    }
}

/// Creates a medium of the kind that its bytes show, else of the kind that is declared.
fn judged<'a>(
    at: Value<'_, 'a>,
    source: Source<'a>,
    declared: Option<Str<'a>>,
    named: Option<MediaKind>,
) -> Option<Media<'a>> {
    let sniffed = match &source {
        Source::Data(payload) => sniff_kind(&payload.header()),
        Source::Text(_) => Some(MediaKind::Document),
        Source::Url(_) | Source::File(_) | Source::Missing => None,
    };
    let kind = match (sniffed, declared.as_ref()) {
        (Some(kind), _) => kind,
        // A transcript cannot express video.
        (None, Some(label)) if is_type(&label.decode()) => kind_of(Some(label))?,
        (None, label) => kind_of(label).or(named).unwrap_or(MediaKind::Document),
    };
    let found = if matches!(source, Source::Missing) { Found::Mended } else { Found::Typed };
    Some(medium(kind, source, declared.and_then(|label| exact(&label)), found, at.id()))
}

/// Returns a label if it names one type. `image` and `image/*` do not.
fn exact(label: &Str<'_>) -> Option<Str<'static>> {
    let label = label.decode().to_ascii_lowercase();
    (is_type(&label) && !label.contains('*')).then(|| Str::plain(proper_name(&label).to_owned()))
}

fn kind_of(declared: Option<&Str<'_>>) -> Option<MediaKind> {
    match declared?.decode().split('/').next()? {
        "image" => Some(MediaKind::Image),
        "audio" => Some(MediaKind::Audio),
        "application" | "text" => Some(MediaKind::Document),
        _ => None,
    }
}

/// Returns the kind that the name of the part's type contains.
fn named_kind(part: Value<'_, '_>) -> Option<MediaKind> {
    let name = first(part, &["type", "kind"])?.str()?.decode();
    if name.contains("image") {
        Some(MediaKind::Image)
    } else if name.contains("audio") {
        Some(MediaKind::Audio)
    } else {
        None
    }
}
