//! Kinds of content: text, or a kind of media.

/// A kind of content. The protocol defines this closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modality {
    /// Text, which every host accepts.
    Text,
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A document.
    Document,
}

impl Modality {
    /// Returns its name in the discovery document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Document => "document",
        }
    }

    /// Parses the type of a part. The specification says `document`; its test suite and reference
    /// host say `file`. Both are accepted.
    pub(crate) fn of_part(kind: &str) -> Option<Self> {
        match kind {
            "text" => Some(Self::Text),
            "image" => Some(Self::Image),
            "audio" => Some(Self::Audio),
            "document" | "file" => Some(Self::Document),
            _ => None,
        }
    }

    /// Returns the modality of a media type. The protocol has no video.
    pub(crate) fn of_media(media_type: &str) -> Option<Self> {
        match media_type.split('/').next() {
            Some("image") => Some(Self::Image),
            Some("audio") => Some(Self::Audio),
            Some("video") | None => None,
            Some(_) => Some(Self::Document),
        }
    }
}
