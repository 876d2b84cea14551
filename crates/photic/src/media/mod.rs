//! One picture, document or sound in a conversation: the source of its bytes and the facts in its
//! header.
//!
//! Only headers are read: no pixel is decoded here, and nothing is fetched.

mod address;
mod bytes;
mod data_url;
mod header;
mod id;
mod kind;
mod pages;
mod payload;
mod tiff;
mod whole;

use crate::json::{NodeId, Str};
use crate::plan::Reason;
pub use address::REFERENCE;
pub(crate) use address::{is_reference, is_web_address};
pub use data_url::DataUrl;
pub(crate) use data_url::{
    begins_with_data, is_type, is_type_with_parameters, proper_name, says_film_or_sound,
};
pub use header::{Header, sniff};
pub use id::MediaId;
pub(crate) use id::index_by_media;
pub use kind::MediaKind;
pub use payload::{Digest, Payload};
pub(crate) use payload::{HEADER_LOOK, has_weak_magic, text_begins_like_image, whole_string_image};
pub(crate) use whole::{Extent, extent};

/// A piece of media, and the form it came in.
#[derive(Clone, Debug)]
pub struct Media<'a> {
    /// Picture, document or sound.
    pub kind: MediaKind,
    /// The source of the bytes.
    pub source: Source<'a>,
    /// The type its sender declared; never trusted.
    pub declared: Option<Str<'a>>,
    /// The `detail` its sender asked for.
    pub detail: Option<Str<'a>>,
    /// A file name or title, as sent.
    pub name: Option<Str<'a>>,
    /// The form in which it was in the body.
    pub found: Found,
    /// The spelling of its part.
    pub spelled: Spelled,
    /// Set if the bytes behind its address were requested but are not available: the reason.
    pub withheld: Option<Reason>,
    /// The node it was read from.
    pub(crate) node: NodeId,
    /// JSON pointer to it within the JSON inside a string, if it was found there.
    pub(crate) inner: Option<String>,
}

index_by_media!(Media<'a>);

/// The source of a medium's bytes.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// In the body.
    Data(Payload<'a>),
    /// In the body as plain text (documents).
    Text(Str<'a>),
    /// Behind an address the provider fetches.
    Url(Str<'a>),
    /// In the provider's own file store.
    File(Str<'a>),
    /// Nowhere: the part names no source, or one we cannot read.
    Missing,
}

/// The spelling of a medium's part, on the wire that has two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelled {
    /// The wire's own: an object with members.
    #[default]
    InFull,
    /// The one of some endpoints: the address or the base64 as a string.
    Short,
}

/// The form in which a medium was in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// In a typed part, well formed.
    Typed,
    /// In a typed part whose data URL or base64 had to be put right.
    Mended,
    /// An image in a part meant for documents.
    Misfiled,
    /// As text: base64, a data URL, or JSON inside a string.
    AsText,
    /// As an address in a typed part; the host fetched its content.
    Fetched,
}

impl Media<'_> {
    /// Returns the header of the bytes, if they are in the body.
    pub fn header(&self) -> Header {
        match &self.source {
            Source::Data(payload) => payload.header(),
            Source::Text(text) => {
                Header { media_type: Some("text/plain"), bytes: text.len(), ..Header::default() }
            }
            Source::Url(_) | Source::File(_) | Source::Missing => Header::default(),
        }
    }
}

impl Source<'_> {
    /// Returns a copy that borrows nothing.
    pub(crate) fn into_owned(self) -> Source<'static> {
        match self {
            Self::Data(payload) => Source::Data(payload.into_owned()),
            Self::Text(text) => Source::Text(text.into_owned()),
            Self::Url(text) => Source::Url(text.into_owned()),
            Self::File(text) => Source::File(text.into_owned()),
            Self::Missing => Source::Missing,
        }
    }
}

impl Media<'_> {
    /// Returns `true` if it is labeled as a film or a sound, which never becomes a picture.
    pub(crate) fn says_film_or_sound(&self) -> bool {
        self.declared.as_ref().is_some_and(|label| says_film_or_sound(&label.decode()))
    }

    /// Returns `true` if its bytes are a film or a sound.
    pub(crate) fn is_film_or_sound(&self) -> bool {
        match &self.source {
            Source::Data(payload) => payload.is_film_or_sound(),
            Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => false,
        }
    }
}

/// Returns the kind of medium that a header shows.
pub(crate) fn sniff_kind(header: &Header) -> Option<MediaKind> {
    let media_type = header.media_type?;
    Some(if media_type.starts_with("image/") {
        MediaKind::Image
    } else if media_type.starts_with("audio/") {
        MediaKind::Audio
    } else {
        MediaKind::Document
    })
}
