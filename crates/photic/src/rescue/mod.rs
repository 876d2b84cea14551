//! Images that were serialized into text: recognized by what their bytes are, never by length.
//!
//! A string counts only as a whole: base64 or a data URL that fills it, or JSON that fills it and
//! holds such strings. A data URL within prose is never cut out; a truncated picture would be
//! worse than a long text.

mod shapes;
mod walk;

use crate::json::{Str, Value};
use crate::media::{Found, Media, MediaKind, Source, Spelled};
use shapes::whole_string;
pub(crate) use shapes::{Structured, is_web_address, spelled_bytes, typed_part_of_another_wire};
pub(crate) use walk::from_json;
use walk::from_json_text;

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
            spelled: Spelled::InFull,
            withheld: None,
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
