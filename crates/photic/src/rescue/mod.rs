//! Pictures that were written into text. They are recognized by their bytes, never by length.
//!
//! A picture is taken out of a text only if it is complete to its last byte and the text around it
//! stays valid. The rules depend on the author of the text:
//!
//! - **The result of a tool** is written by a program. A text that is one picture becomes that
//!   picture. JSON that spells typed parts becomes those parts. Pictures inside longer text are
//!   replaced by a short marker each ([`flat`]). Small pictures, source code, style sheets and
//!   diffs stay.
//! - **A file that an agent reads** stays whole, whatever it holds ([`files`]): the agent will
//!   write it back. The name, arguments or command of the call show that it reads a file.
//! - **The text of a user or operator** stays, unless it is exactly one whole picture or exactly a
//!   list of typed parts as SDKs serialize it.
//! - **The text of the model** is never searched.
//!
//! A possible picture that stays is reported by a finding ([`Left`]): cut off, small, part of a
//! file or of source code, or inside a longer text. Nothing is left silently.

mod candidate;
mod files;
mod flat;
mod prefix;
mod shapes;
mod source;
mod walk;

use crate::finding::Code;
use crate::json::{Str, Value};
use crate::media::{Found, Media, MediaKind, Source, Spelled};
pub(crate) use files::keep_files_whole;
use shapes::whole_string;
pub(crate) use shapes::{Structured, spelled_bytes, typed_part_of_another_wire};
use walk::{from_json, from_json_text};

/// The pictures that may be taken out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every whole picture.
    Anything,
    /// The text as a whole: one picture, or a list of typed parts.
    Exact,
}

/// The media found in a text, and the codes for possible pictures that stay in it.
#[derive(Debug)]
pub(crate) struct Looked<'a> {
    pub(crate) found: Rescue<'a>,
    pub(crate) left: Left,
}

/// Codes for possible pictures that stay in a text, each once.
#[derive(Debug, Default)]
pub(crate) struct Left(Vec<Code>);

impl Left {
    fn add(&mut self, code: Code) {
        if !self.0.contains(&code) {
            self.0.push(code);
        }
    }

    fn join(&mut self, other: Self) {
        other.0.into_iter().for_each(|code| self.add(code));
    }

    /// Returns the codes, in the order they were found.
    pub(crate) fn into_codes(self) -> Vec<Code> {
        self.0
    }
}

/// The result of searching a text.
#[derive(Debug)]
pub(crate) enum Rescue<'a> {
    /// Text only.
    Nothing,
    /// A list of parts that names images only by address. It stays unchanged: the provider must
    /// not fetch an address that a tool returned.
    Addresses,
    /// Media, and the texts around them, in order.
    Found(Vec<Piece<'a>>),
}

/// A piece of a text that holds media.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    Text(Str<'a>),
    /// A part that names an image by address, unchanged.
    Address(Str<'a>),
    Media(Box<Rescued<'a>>),
    /// Texts with media between them; one more text than media.
    TextWithMedia(Vec<Str<'a>>, Vec<Rescued<'a>>),
}

/// A medium found in a text, and its place in the JSON that the text held.
#[derive(Debug)]
pub(crate) struct Rescued<'a> {
    pub(crate) kind: MediaKind,
    pub(crate) source: Source<'a>,
    pub(crate) declared: Option<Str<'a>>,
    pub(crate) name: Option<Str<'a>>,
    pub(crate) inner: Option<String>,
    /// `true` if the JSON around it says that it is a picture.
    pub(crate) typed: bool,
}

/// Finds media in a text, in any of the shapes seen in the wild.
pub(crate) fn from_text<'a>(value: Value<'_, 'a>, scope: Scope) -> Looked<'a> {
    let mut left = Left::default();
    let Some(text) = value.str() else { return Looked { found: Rescue::Nothing, left } };
    if let Some(found) = whole_string(&text, value.has_base64_tail()) {
        let found = Rescue::Found(vec![Piece::Media(Box::new(found))]);
        return Looked { found, left };
    }
    let Some(pieces) = from_json_text(value, scope) else {
        let found = match scope {
            Scope::Anything => flat::split(&text, &mut left),
            Scope::Exact => {
                flat::report(&text, &mut left);
                None
            }
        };
        let found = found.map_or(Rescue::Nothing, |(words, media)| {
            Rescue::Found(vec![Piece::TextWithMedia(words, media)])
        });
        return Looked { found, left };
    };
    let pieces = split_words(pieces, scope, &mut left);
    let is_found = pieces.iter().any(Piece::is_found);
    Looked { found: if is_found { Rescue::Found(pieces) } else { Rescue::Addresses }, left }
}

/// Finds media in JSON that is in the body itself, in the place of a tool's text.
pub(crate) fn from_structured<'a>(value: Value<'_, 'a>) -> Looked<'a> {
    let mut left = Left::default();
    let words = || vec![Piece::Text(Str::Plain(String::from_utf8_lossy(value.raw())))];
    let pieces = from_json(value).unwrap_or_else(words);
    let pieces = split_words(pieces, Scope::Anything, &mut left);
    let is_found = pieces.iter().any(Piece::is_found);
    Looked { found: if is_found { Rescue::Found(pieces) } else { Rescue::Nothing }, left }
}

/// Returns `true` if a text holds anything that could be a picture.
pub(crate) fn may_hold_picture(text: &Str<'_>) -> bool {
    let mut left = Left::default();
    flat::report(text, &mut left);
    !left.0.is_empty()
}

/// Takes pictures out of the texts among some pieces, or reports them if they must stay.
fn split_words<'a>(pieces: Vec<Piece<'a>>, scope: Scope, left: &mut Left) -> Vec<Piece<'a>> {
    let mut split = |text: Str<'a>| match scope {
        Scope::Anything => flat::split(&text, left).unwrap_or_else(|| (vec![text], Vec::new())),
        Scope::Exact => {
            flat::report(&text, left);
            (vec![text], Vec::new())
        }
    };
    let mut done = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (texts, media) = match piece {
            Piece::Text(text) => (vec![text], Vec::new()),
            Piece::TextWithMedia(texts, media) => (texts, media),
            Piece::Address(_) | Piece::Media(_) => {
                done.push(piece);
                continue;
            }
        };
        let (mut words, mut found) = (Vec::new(), Vec::new());
        let mut media = media.into_iter();
        for text in texts {
            let (mut more_words, mut more_found) = split(text);
            words.append(&mut more_words);
            found.append(&mut more_found);
            found.extend(media.next());
        }
        done.push(match words.pop() {
            Some(text) if found.is_empty() => Piece::Text(text),
            last => {
                words.extend(last);
                Piece::TextWithMedia(words, found)
            }
        });
    }
    done
}

impl<'a> Rescued<'a> {
    /// Converts it to a medium of the transcript, at a node of the body.
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

    /// Returns `true` if it is a picture so small that it stays in its text.
    fn is_small(&self) -> bool {
        matches!(&self.source, Source::Data(payload) if flat::is_small(payload))
    }

    fn into_owned(self) -> Rescued<'static> {
        Rescued {
            kind: self.kind,
            source: self.source.into_owned(),
            declared: self.declared.map(Str::into_owned),
            name: self.name.map(Str::into_owned),
            inner: self.inner,
            typed: self.typed,
        }
    }
}

impl Piece<'_> {
    const fn is_found(&self) -> bool {
        matches!(self, Self::Media(_) | Self::TextWithMedia(..))
    }

    fn into_owned(self) -> Piece<'static> {
        match self {
            Piece::Text(text) => Piece::Text(text.into_owned()),
            Piece::Address(text) => Piece::Address(text.into_owned()),
            Piece::Media(found) => Piece::Media(Box::new(found.into_owned())),
            Piece::TextWithMedia(texts, media) => Piece::TextWithMedia(
                texts.into_iter().map(Str::into_owned).collect(),
                media.into_iter().map(Rescued::into_owned).collect(),
            ),
        }
    }
}
