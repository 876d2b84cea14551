//! Images that were serialized into text: recognized by what their bytes are, never by length.
//!
//! A string counts only as a whole: base64 or a data URL that fills it, or JSON that fills it and
//! holds such strings. A data URL within prose is never cut out; a truncated picture would be
//! worse than a long text.

use crate::json::{Doc, Kind, Str, Value};
use crate::media::{
    DataUrl, Found, Media, MediaKind, Payload, Source, sniff_kind, whole_string_image,
};

/// What a text turned out to be.
#[derive(Debug)]
pub(crate) enum Rescue<'a> {
    /// Words.
    Nothing,
    /// A list of parts that names images by address only. It stays as it is: an address that a
    /// tool returned is not for the provider to fetch.
    Addresses,
    /// Media, and words around them, in order.
    Found(Vec<Piece<'a>>),
}

/// A piece of a text that holds media.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    Text(Str<'a>),
    /// A part that names an image by address, as it stands.
    Address(Str<'a>),
    Media(Box<Rescued<'a>>),
    /// Words with media in them; one more text than media.
    Woven(Vec<Str<'a>>, Vec<Rescued<'a>>),
}

/// A medium found in a text, and its place in the JSON that the text held.
#[derive(Debug)]
pub(crate) struct Rescued<'a> {
    pub(crate) kind: MediaKind,
    pub(crate) source: Source<'a>,
    pub(crate) declared: Option<Str<'a>>,
    pub(crate) name: Option<Str<'a>>,
    pub(crate) inner: Option<String>,
}

/// The members that SDKs give their parts; none of them says anything that the model would miss.
const KNOWN_MEMBERS: [&str; 28] = [
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
];

/// JSON in JSON in JSON: deeper than this nobody nests by accident.
const DEEPEST: usize = 3;

/// Finds media in a text, in any of the shapes seen in the wild.
pub(crate) fn from_text<'a>(value: Value<'_, 'a>) -> Rescue<'a> {
    let Some(text) = value.str() else { return Rescue::Nothing };
    let pieces = match whole_string(&text, value.has_base64_tail()) {
        Some(found) => Some(vec![Piece::Media(Box::new(found))]),
        None => from_json_text(value),
    };
    match pieces {
        None => Rescue::Nothing,
        Some(pieces)
            if pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Address(_))) =>
        {
            Rescue::Addresses
        }
        Some(pieces) => Rescue::Found(pieces),
    }
}

fn from_json_text<'a>(value: Value<'_, 'a>) -> Option<Vec<Piece<'a>>> {
    let inside = value.inside()?;
    // JSON with a string in it has escaped quotes; without one there is no image.
    if !value.has_escapes() || !begins_like_json(inside) {
        return None;
    }
    if let Some(Ok(doc)) = value.parse_inside() {
        let walk = Walk { doc: &doc, text: inside, depth: 1 };
        match walk.pieces(doc.root()?) {
            Outcome::Found(pieces) => return Some(pieces),
            Outcome::Nothing => return None,
            // JSON within that JSON: read it unescaped, at the price of a copy.
            Outcome::Deeper => {}
        }
    }
    let plain = Str::Escaped(inside).decode();
    let pieces = from_plain_json(&plain, 1)?;
    Some(pieces.into_iter().map(Piece::into_owned).collect())
}

fn from_plain_json(plain: &str, depth: usize) -> Option<Vec<Piece<'_>>> {
    if depth > DEEPEST || !begins_like_json(plain.as_bytes()) {
        return None;
    }
    let doc = Doc::parse(plain.as_bytes()).ok()?;
    let walk = Walk { doc: &doc, text: plain.as_bytes(), depth };
    match walk.pieces(doc.root()?) {
        // The pieces of an unescaped text are unescaped too.
        Outcome::Found(pieces) => Some(pieces),
        Outcome::Nothing => None,
        Outcome::Deeper => {
            let (texts, media) = walk.weave_deep(plain)?;
            Some(vec![Piece::Woven(texts, media)])
        }
    }
}

fn begins_like_json(text: &[u8]) -> bool {
    matches!(Str::Escaped(text).start(), [b'{' | b'[' | b'"', ..] | [b'\\', b'"', ..])
}

enum Outcome<'a> {
    Found(Vec<Piece<'a>>),
    Nothing,
    /// Some string holds JSON of its own that may hold media.
    Deeper,
}

struct Walk<'d, 'a> {
    doc: &'d Doc<'a>,
    text: &'a [u8],
    depth: usize,
}

impl<'a> Walk<'_, 'a> {
    fn pieces(&self, root: Value<'_, 'a>) -> Outcome<'a> {
        if let Some(pieces) = self.as_parts(root) {
            return Outcome::Found(pieces);
        }
        let mut holes = Vec::new();
        let mut deeper = false;
        each_string(root, &mut |value| {
            let Some(text) = value.str() else { return };
            match whole_string(&text, value.has_base64_tail()) {
                Some(found) => holes.push((value, found)),
                None => deeper |= self.depth < DEEPEST && may_hold_json(&text),
            }
        });
        if deeper {
            return Outcome::Deeper;
        }
        if holes.is_empty() {
            return Outcome::Nothing;
        }
        let mut texts = Vec::new();
        let mut media = Vec::new();
        let mut at = 0;
        for (value, mut found) in holes {
            // The quotes stay with the words, so that the text remains JSON.
            let span = value.span();
            let quote = (span.len() - value.inside().map_or(0, <[u8]>::len)) / 2;
            texts.push(self.words(at, span.start + quote));
            at = span.end - quote;
            found.inner = Some(self.doc.pointer(value.id()));
            media.push(found);
        }
        texts.push(self.words(at, self.text.len()));
        Outcome::Found(vec![Piece::Woven(texts, media)])
    }

    /// A slice of the text: still escaped at the first depth, plain below.
    fn words(&self, start: usize, end: usize) -> Str<'a> {
        let bytes = &self.text[start..end];
        if self.doc.is_escaped() {
            Str::Escaped(bytes)
        } else {
            Str::Plain(String::from_utf8_lossy(bytes))
        }
    }

    /// The content parts that a list, or a result with a list, spells out.
    fn as_parts(&self, value: Value<'_, 'a>) -> Option<Vec<Piece<'a>>> {
        let list = match value.kind() {
            Kind::Array => value,
            Kind::Object => match list_within(value) {
                Some(list) => list,
                None => {
                    return self
                        .typed_part(value)
                        .map(|part| vec![part])
                        .filter(|p| holds_media(p));
                }
            },
            Kind::String => {
                let mut found = whole_string(&value.str()?, value.has_base64_tail())?;
                found.inner = Some(String::new());
                return Some(vec![Piece::Media(Box::new(found))]);
            }
            Kind::Null | Kind::Bool | Kind::Number => return None,
        };
        let parts: Option<Vec<_>> = list.items().map(|item| self.typed_part(item)).collect();
        parts.filter(|parts| holds_media(parts))
    }

    /// A content part in any of the dialects that SDKs serialize.
    fn typed_part(&self, value: Value<'_, 'a>) -> Option<Piece<'a>> {
        let type_name = value.get("type")?.str()?.decode();
        // What a part says beside what we know of it would be lost: then it is woven instead.
        if value.entries().any(|(key, _)| !KNOWN_MEMBERS.contains(&&*key.decode())) {
            return None;
        }
        if matches!(&*type_name, "text" | "input_text" | "output_text") {
            let text = value.get("text")?;
            let words = text.str()?;
            if let Some(mut found) = whole_string(&words, text.has_base64_tail()) {
                found.inner = Some(self.doc.pointer(text.id()));
                return Some(Piece::Media(Box::new(found)));
            }
            if self.depth < DEEPEST
                && may_hold_json(&words)
                && let Some(pieces) = from_plain_json(&words.decode(), self.depth + 1)
            {
                let (texts, media) = flatten(pieces);
                return Some(Piece::Woven(texts, media));
            }
            return Some(Piece::Text(words));
        }
        let (found, node) = typed_media(value, &type_name)?;
        if matches!(found.source, Source::Url(_)) {
            let span = value.span();
            return Some(Piece::Address(self.words(span.start, span.end)));
        }
        let inner = Some(self.doc.pointer(node));
        Some(Piece::Media(Box::new(Rescued { inner, ..found })))
    }

    /// Weaves media out of JSON that stands in strings of this (unescaped) JSON.
    fn weave_deep(&self, plain: &str) -> Option<(Vec<Str<'a>>, Vec<Rescued<'a>>)> {
        let mut texts = Vec::new();
        let mut media = Vec::new();
        let mut words = String::new();
        let mut at = 0;
        each_string(self.doc.root()?, &mut |value| {
            let Some(text) = value.str() else { return };
            let holes = match whole_string(&text, value.has_base64_tail()) {
                Some(found) => {
                    Some((vec![Str::plain(""), Str::plain("")], vec![found.into_owned()]))
                }
                None if may_hold_json(&text) => {
                    from_plain_json(&text.decode(), self.depth + 1).map(flatten)
                }
                None => None,
            };
            let Some((inner_texts, inner_media)) = holes.filter(|(_, media)| !media.is_empty())
            else {
                return;
            };
            let pointer = self.doc.pointer(value.id());
            let span = value.span();
            words.push_str(&plain[at..=span.start]);
            at = span.end - 1;
            let mut inner_texts = inner_texts.into_iter();
            words.push_str(&escaped(&inner_texts.next().unwrap_or(Str::plain(""))));
            for (text, mut found) in inner_texts.zip(inner_media) {
                texts.push(Str::plain(std::mem::take(&mut words)));
                let below = found.inner.take().unwrap_or_default();
                found.inner = Some(if below.is_empty() {
                    pointer.clone()
                } else {
                    format!("{pointer}#{below}")
                });
                media.push(found);
                words.push_str(&escaped(&text));
            }
        });
        words.push_str(&plain[at..]);
        texts.push(Str::plain(words));
        (!media.is_empty()).then_some((texts, media))
    }
}

/// Calls `visit` with every string of a value, in order.
fn each_string<'v, 'a>(value: Value<'v, 'a>, visit: &mut impl FnMut(Value<'v, 'a>)) {
    // Iterative: the depth of the JSON is not ours to trust.
    let mut open = vec![value];
    let mut strings = Vec::new();
    while let Some(value) = open.pop() {
        match value.kind() {
            Kind::String => strings.push(value),
            Kind::Array => open.extend(value.items()),
            Kind::Object => open.extend(value.entries().map(|(_, member)| member)),
            Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }
    strings.sort_by_key(Value::id);
    strings.into_iter().for_each(visit);
}

/// Pieces as one woven text; parts of a list are set apart by line breaks.
fn flatten(pieces: Vec<Piece<'_>>) -> (Vec<Str<'static>>, Vec<Rescued<'static>>) {
    let mut texts = vec![String::new()];
    let mut media = Vec::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0
            && let Some(last) = texts.last_mut()
        {
            last.push('\n');
        }
        match piece {
            Piece::Text(text) | Piece::Address(text) => {
                if let Some(last) = texts.last_mut() {
                    last.push_str(&text.decode());
                }
            }
            Piece::Media(found) => {
                media.push(found.into_owned());
                texts.push(String::new());
            }
            Piece::Woven(words, found) => {
                let mut words = words.into_iter();
                if let (Some(last), Some(first)) = (texts.last_mut(), words.next()) {
                    last.push_str(&first.decode());
                }
                media.extend(found.into_iter().map(Rescued::into_owned));
                texts.extend(words.map(|text| text.decode().into_owned()));
            }
        }
    }
    (texts.into_iter().map(Str::plain).collect(), media)
}

fn escaped(text: &Str<'_>) -> String {
    let mut bytes = Vec::new();
    crate::json::escape_into(text.decode().as_bytes(), &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn may_hold_json(text: &Str<'_>) -> bool {
    let bytes = text.bytes();
    // Shorter than any picture with its JSON around it.
    bytes.len() > 64 && begins_like_json(bytes) && bytes.contains(&b'"')
}

/// Whether there is more than words in it.
fn holds_media(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)))
}

/// The list of parts in `{"content": […]}` (a tool result of MCP) or `{"type":"content","value":[…]}`
/// (an output of the AI SDK), where nothing else stands beside it that would be lost.
fn list_within<'d, 'a>(value: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let mut list = None;
    for (key, member) in value.entries() {
        match &*key.decode() {
            "content" | "value" if member.kind() == Kind::Array => list = Some(member),
            "type" if member.is("content") => {}
            "isError" if member.bool() == Some(false) => {}
            _ => return None,
        }
    }
    list
}

/// A medium spelled as an object with a `type`, and the node that holds its bytes.
fn typed_media<'a>(value: Value<'_, 'a>, type_name: &str) -> Option<(Rescued<'a>, u32)> {
    const TYPES: [&str; 14] = [
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
        return Some((Rescued { kind, source, declared, name, inner: None }, bytes.id()));
    };
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
        // The bytes decide; the label only where they say nothing.
        Source::Data(payload) => sniff_kind(&payload.header())?,
        _ if says_image => MediaKind::Image,
        _ => return None,
    };
    Some((Rescued { kind, source, declared, name, inner: None }, bytes.id()))
}

/// Bytes that a JSON writer spelled out: a list of numbers, Node's `Buffer`, or the object with the
/// keys 0, 1, 2, … that a typed array becomes (AI SDK 7 sends downloaded images so).
fn spelled_bytes(value: Value<'_, '_>) -> Option<Vec<u8>> {
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

/// A data URL of an image or bare base64 of one, filling the string.
fn whole_string<'a>(text: &Str<'a>, tail_is_base64: bool) -> Option<Rescued<'a>> {
    let (payload, declared) = match DataUrl::parse(text, tail_is_base64) {
        Some(url) => {
            let payload = url.payload.filter(|payload| is_raster(payload))?;
            (payload, url.media_type)
        }
        None => (whole_string_image(text, tail_is_base64)?, None),
    };
    Some(Rescued {
        kind: MediaKind::Image,
        source: Source::Data(payload),
        declared,
        name: None,
        inner: None,
    })
}

/// A picture made of pixels. A drawing is text, and a model reads it better than our notice.
fn is_raster(payload: &Payload<'_>) -> bool {
    let header = payload.header();
    header.is_image() && header.media_type != Some("image/svg+xml")
}

pub(crate) fn is_web_address(text: &Str<'_>) -> bool {
    let bytes = text.bytes();
    ["https:", "http:"].iter().any(|scheme| {
        bytes.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

impl<'a> Rescued<'a> {
    /// As a medium of the transcript, standing at a node of the body.
    pub(crate) fn into_media(self, node: u32) -> Media<'a> {
        Media {
            kind: self.kind,
            source: self.source,
            declared: self.declared,
            detail: None,
            name: self.name,
            found: Found::AsText,
            node,
            inner: self.inner,
        }
    }

    fn into_owned(self) -> Rescued<'static> {
        Rescued {
            kind: self.kind,
            source: self.source.into_owned(),
            declared: self.declared.map(Str::into_owned),
            name: self.name.map(Str::into_owned),
            inner: self.inner,
        }
    }
}

impl Piece<'_> {
    fn into_owned(self) -> Piece<'static> {
        match self {
            Piece::Text(text) => Piece::Text(text.into_owned()),
            Piece::Address(text) => Piece::Address(text.into_owned()),
            Piece::Media(found) => Piece::Media(Box::new(found.into_owned())),
            Piece::Woven(texts, media) => Piece::Woven(
                texts.into_iter().map(Str::into_owned).collect(),
                media.into_iter().map(Rescued::into_owned).collect(),
            ),
        }
    }
}

/// A medium spelled as a typed part, for readers that met a type their wire does not have.
pub(crate) fn typed_part_of_another_wire<'a>(part: Value<'_, 'a>) -> Option<Rescued<'a>> {
    let type_name = part.get("type")?.str()?.decode();
    typed_media(part, &type_name).map(|(found, _)| found)
}
