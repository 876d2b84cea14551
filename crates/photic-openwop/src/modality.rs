//! What a part of a message is: words, or which kind of medium.

/// A kind of content. The set is closed by the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modality {
    /// Words; every host takes them.
    Text,
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A document.
    Document,
}

impl Modality {
    /// Its name in what a host says about itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Document => "document",
        }
    }

    /// By the type of a part. The specification says `document`, its suite and its reference host
    /// say `file`.
    pub(crate) fn of_part(kind: &str) -> Option<Self> {
        match kind {
            "text" => Some(Self::Text),
            "image" => Some(Self::Image),
            "audio" => Some(Self::Audio),
            "document" | "file" => Some(Self::Document),
            _ => None,
        }
    }

    /// By a media type; films are nothing that the protocol has a word for.
    pub(crate) fn of_media(media_type: &str) -> Option<Self> {
        match media_type.split('/').next() {
            Some("image") => Some(Self::Image),
            Some("audio") => Some(Self::Audio),
            Some("video") | None => None,
            Some(_) => Some(Self::Document),
        }
    }
}
