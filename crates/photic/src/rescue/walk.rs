//! Walks JSON inside a string. JSON that spells parts becomes parts; other JSON becomes text with
//! its media taken out.

use super::shapes::{
    KNOWN_MEMBERS, Spelled, Structured, list_within, names_picture, spelled_picture, type_of,
    typed_media, whole_string,
};
use super::{Piece, Rescued, Scope};
use crate::json::{Doc, Kind, Str, Value, escape_into};
use crate::media::Source;

/// Maximum depth of JSON within JSON. Deeper nesting does not occur by accident.
const DEEPEST: usize = 3;

/// Finds media in a text that is JSON.
pub(super) fn from_json_text<'a>(value: Value<'_, 'a>, scope: Scope) -> Option<Vec<Piece<'a>>> {
    let inside = value.inside()?;
    // JSON with a string in it has escaped quotes. Without a string, only numbers could be a
    // picture.
    let is_numbers = matches!(Str::Escaped(inside).start(), [b'[', b' ' | b'0'..=b'9', ..]);
    if !(value.has_escapes() || is_numbers) || !begins_like_json(inside) {
        return None;
    }
    if let Some(Ok(doc)) = value.parse_inside() {
        let root = doc.root()?;
        if scope == Scope::Exact {
            return Walk { doc: &doc, text: inside, depth: DEEPEST }.as_parts(root);
        }
        let walk = Walk { doc: &doc, text: inside, depth: 1 };
        match walk.pieces(root) {
            Outcome::Found(pieces) => return Some(pieces),
            Outcome::Nothing => return None,
            // JSON within that JSON: read it unescaped, at the price of a copy.
            Outcome::Deeper => {}
        }
    }
    let plain = Str::Escaped(inside).decode();
    let pieces = match scope {
        Scope::Anything => from_plain_json(&plain, 1)?,
        Scope::Exact => parts_of_plain_json(&plain)?,
    };
    Some(pieces.into_iter().map(Piece::into_owned).collect())
}

/// Returns the typed parts that a text spells, and ignores anything else in it.
fn parts_of_plain_json(plain: &str) -> Option<Vec<Piece<'_>>> {
    let doc = Doc::parse(plain.as_bytes()).ok()?;
    Walk { doc: &doc, text: plain.as_bytes(), depth: DEEPEST }.as_parts(doc.root()?)
}

/// Finds media in JSON that is in the body itself, in the place of text.
pub(super) fn from_json<'a>(value: Value<'_, 'a>) -> Option<Vec<Piece<'a>>> {
    from_plain_json(std::str::from_utf8(value.raw()).ok()?, 1)
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
            Some(vec![Piece::TextWithMedia(texts, media)])
        }
    }
}

fn begins_like_json(text: &[u8]) -> bool {
    matches!(Str::Escaped(text).start(), [b'{' | b'[' | b'"', ..] | [b'\\', b'"', ..])
}

enum Outcome<'a> {
    Found(Vec<Piece<'a>>),
    Nothing,
    /// A string holds JSON of its own that may hold media.
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
        self.text_with_media(root, 0..self.text.len())
    }

    /// Returns a range of the text with holes in the place of values that are pictures.
    fn text_with_media(
        &self,
        value: Value<'_, 'a>,
        stretch: std::ops::Range<usize>,
    ) -> Outcome<'a> {
        let mut holes = Vec::new();
        let mut deeper = false;
        each_candidate(value, &mut |value, named, spelled| {
            let Some(text) = value.str() else {
                holes.extend(spelled.map(|found| (value, Rescued { typed: named, ..found })));
                return;
            };
            match whole_string(&text, value.has_base64_tail()) {
                Some(found) if found.is_small() && !named => {}
                Some(found) => holes.push((value, Rescued { typed: named, ..found })),
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
        let (mut at, mut open) = (stretch.start, "");
        for (value, mut found) in holes {
            let (hole, quote) = hole(value);
            texts.push(self.words(at..hole.start, open, quote));
            (at, open) = (hole.end, quote);
            found.inner = Some(self.doc.pointer(value.id()));
            media.push(found);
        }
        texts.push(self.words(at..stretch.end, open, ""));
        Outcome::Found(vec![Piece::TextWithMedia(texts, media)])
    }

    /// Returns a slice of the text, between quotation marks that are not in it. It is still
    /// escaped at the first depth, and plain below.
    fn words(&self, range: std::ops::Range<usize>, open: &str, close: &str) -> Str<'a> {
        let bytes = &self.text[range];
        let words = if self.doc.is_escaped() {
            Str::Escaped(bytes)
        } else {
            Str::Plain(String::from_utf8_lossy(bytes))
        };
        if open.is_empty() && close.is_empty() {
            return words;
        }
        Str::plain([open, &words.decode(), close].concat())
    }

    /// Returns the content parts that a list, or a result with a list, spells out.
    fn as_parts(&self, value: Value<'_, 'a>) -> Option<Vec<Piece<'a>>> {
        if let Some(mut found) = spelled_picture(value) {
            found.inner = Some(String::new());
            return Some(vec![Piece::Media(Box::new(found))]);
        }
        let Spelled { list, structured } = match value.kind() {
            Kind::Array => Spelled { list: value, structured: None },
            Kind::Object => match list_within(value) {
                Some(spelled) => spelled,
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
        let mut parts = parts?;
        if let Some(structured) = structured {
            self.add_structured(structured, &mut parts)?;
        }
        Some(parts).filter(|parts| holds_media(parts))
    }

    /// Adds the structured content of a tool's result, unless its text repeats it. Returns `None`
    /// if the content needs a deeper search.
    fn add_structured(&self, structured: Value<'_, 'a>, parts: &mut Vec<Piece<'a>>) -> Option<()> {
        let meant = Structured::of(structured);
        let is_said =
            |part: &Piece<'_>| matches!(part, Piece::Text(text) if meant.is_said_by(text));
        if parts.iter().any(is_said) {
            return Some(());
        }
        let span = structured.span();
        match self.text_with_media(structured, span.clone()) {
            Outcome::Found(mut pieces) => parts.append(&mut pieces),
            Outcome::Nothing => parts.push(Piece::Text(self.words(span, "", ""))),
            Outcome::Deeper => return None,
        }
        Some(())
    }

    /// Reads a content part in any of the dialects that SDKs serialize.
    fn typed_part(&self, value: Value<'_, 'a>) -> Option<Piece<'a>> {
        let type_name = type_of(value)?;
        // Unknown members of a part would be lost, so such a part is kept as text with holes.
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
                return Some(Piece::TextWithMedia(texts, media));
            }
            return Some(Piece::Text(words));
        }
        let (found, node) = typed_media(value, &type_name)?;
        if matches!(found.source, Source::Url(_)) {
            return Some(Piece::Address(self.words(value.span(), "", "")));
        }
        // An incomplete picture does not count as one.
        if matches!(&found.source, Source::Data(payload) if payload.is_broken_picture()) {
            return None;
        }
        let inner = Some(self.doc.pointer(node));
        Some(Piece::Media(Box::new(Rescued { inner, ..found })))
    }

    /// Takes media out of JSON inside strings of this (unescaped) JSON.
    fn weave_deep(&self, plain: &str) -> Option<(Vec<Str<'a>>, Vec<Rescued<'a>>)> {
        let mut texts = Vec::new();
        let mut media = Vec::new();
        let mut words = String::new();
        let mut at = 0;
        let one =
            |found: Rescued<'a>| (vec![Str::plain(""), Str::plain("")], vec![found.into_owned()]);
        each_candidate(self.doc.root()?, &mut |value, named, spelled| {
            let holes = match (value.str(), spelled) {
                (Some(text), _) => match whole_string(&text, value.has_base64_tail()) {
                    Some(found) if found.is_small() && !named => None,
                    Some(found) => Some(one(found)),
                    None if may_hold_json(&text) => {
                        from_plain_json(&text.decode(), self.depth + 1).map(flatten)
                    }
                    None => None,
                },
                (None, spelled) => spelled.map(one),
            };
            let Some((inner_texts, inner_media)) = holes.filter(|(_, media)| !media.is_empty())
            else {
                return;
            };
            let pointer = self.doc.pointer(value.id());
            let (hole, quote) = hole(value);
            words.push_str(&plain[at..hole.start]);
            words.push_str(quote);
            at = hole.end;
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
            words.push_str(quote);
        });
        words.push_str(&plain[at..]);
        texts.push(Str::plain(words));
        (!media.is_empty()).then_some((texts, media))
    }
}

/// Returns the range of the text that a picture takes, and the quotation mark that its marker
/// needs. A string keeps its own marks, so that the text remains JSON.
fn hole(value: Value<'_, '_>) -> (std::ops::Range<usize>, &'static str) {
    let span = value.span();
    match value.inside() {
        Some(inside) => {
            let quote = (span.len() - inside.len()) / 2;
            (span.start + quote..span.end - quote, "")
        }
        None => (span, "\""),
    }
}

/// Calls `visit` with every string of a value, and with every picture that is spelled otherwise,
/// in order. The flag is `true` if the object around it says that it is a picture.
fn each_candidate<'v, 'a>(
    value: Value<'v, 'a>,
    visit: &mut impl FnMut(Value<'v, 'a>, bool, Option<Rescued<'static>>),
) {
    // Iterative, because the depth of the JSON is untrusted.
    let mut open = vec![(value, false)];
    let mut found = Vec::new();
    while let Some((value, named)) = open.pop() {
        match value.kind() {
            Kind::String => found.push((value, named, None)),
            Kind::Array | Kind::Object => match spelled_picture(value) {
                Some(picture) if picture.is_small() && !named => {}
                Some(picture) => found.push((value, named, Some(picture))),
                None if value.is_list() => open.extend(value.items().map(|item| (item, false))),
                None => {
                    let named = names_picture(value);
                    open.extend(value.entries().map(|(_, member)| (member, named)));
                }
            },
            Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }
    found.sort_by_key(|(value, ..)| value.id());
    for (value, named, picture) in found {
        visit(value, named, picture);
    }
}

/// Joins pieces into one text with media. Parts of a list are separated by line breaks.
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
            Piece::TextWithMedia(words, found) => {
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
    escape_into(text.decode().as_bytes(), &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn may_hold_json(text: &Str<'_>) -> bool {
    let bytes = text.bytes();
    // Anything shorter is less than a picture with its JSON around it.
    bytes.len() > 64 && begins_like_json(bytes) && bytes.contains(&b'"')
}

/// Returns `true` if it holds anything but text.
fn holds_media(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)))
}
