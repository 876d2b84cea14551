//! The ways in which sessions spell a medium, and how a notice is spelled in the same place.
//!
//! Owns which members of a block hold the bytes, the type and the words. Must never decide what
//! becomes of a medium, and never know an agent by name.

use photic::json::{Kind, Value};
use photic::media::{Media, MediaKind};

/// How a block spells its medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `{"type":"image","source":{"type":"base64","media_type":…,"data":…}}`
    Source,
    /// `{"type":"input_image","image_url":"data:…"}`
    InputImage,
    /// `{"type":"image_url","image_url":{"url":"data:…"}}`
    ImageUrl,
    /// `{"type":"image","data":…,"mimeType":…}`
    Plain,
    /// `{"inlineData":{"mimeType":…,"data":…}}`
    Inline,
    /// `{"type":"file","mime":…,"url":"data:…"}`
    FilePart,
    /// `{"type":"image","file":{"base64":…,"type":…}}`, which is never sent.
    ReadFile,
    /// A data URL by itself in a list, which is never sent.
    Bare,
}

/// A block that holds a medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'d, 'a> {
    /// The whole of it.
    pub(crate) value: Value<'d, 'a>,
    /// How it is spelled.
    pub(crate) spelling: Spelling,
    /// The string that holds the bytes: base64, or a data URL.
    pub(crate) data: Value<'d, 'a>,
    /// The string that names the type, where it is not part of the data.
    pub(crate) label: Option<Value<'d, 'a>>,
}

impl<'d, 'a> Block<'d, 'a> {
    /// Reads a value as a block; most are none.
    pub(crate) fn read(value: Value<'d, 'a>) -> Option<Self> {
        if value.kind() != Kind::Object {
            return None;
        }
        let block = |spelling, data, label| {
            Some(Self { value, spelling, data, label }).filter(Self::is_sound)
        };
        if let Some(inline) = value.get("inlineData") {
            return block(Spelling::Inline, inline.get("data")?, inline.get("mimeType"));
        }
        let kind = value.get("type")?;
        if kind.is("image") || kind.is("document") {
            if let Some(source) = value.get("source") {
                let is_base64 = source.get("type").is_some_and(|kind| kind.is("base64"));
                let data = source.get("data").filter(|_| is_base64)?;
                return block(Spelling::Source, data, source.get("media_type"));
            }
            if let Some(file) = value.get("file") {
                return block(Spelling::ReadFile, file.get("base64")?, file.get("type"));
            }
            return block(Spelling::Plain, value.get("data")?, value.get("mimeType"));
        }
        if kind.is("input_image") {
            return block(Spelling::InputImage, value.get("image_url")?, None);
        }
        if kind.is("image_url") {
            return block(Spelling::ImageUrl, value.get("image_url")?.get("url")?, None);
        }
        if kind.is("file") {
            return block(Spelling::FilePart, value.get("url")?, value.get("mime"));
        }
        None
    }

    /// Reads a string that is nothing but a data URL.
    pub(crate) fn bare(value: Value<'d, 'a>) -> Option<Self> {
        let block = Self { value, spelling: Spelling::Bare, data: value, label: None };
        Some(block).filter(Self::is_sound)
    }

    /// Addresses that are not data stay what they are: nothing of theirs is in the file. Texts that
    /// are attached as files are words.
    fn is_sound(&self) -> bool {
        let is_data = |text: &[u8]| {
            let start = text.get(1..).unwrap_or_default().trim_ascii_start();
            start.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"data:"))
        };
        self.data.kind() == Kind::String
            && (!self.is_data_url() || is_data(self.data.raw()))
            && !self.declared().starts_with("text/")
    }

    /// Whether the bytes stand in a data URL.
    pub(crate) const fn is_data_url(&self) -> bool {
        match self.spelling {
            Spelling::InputImage | Spelling::ImageUrl | Spelling::FilePart | Spelling::Bare => true,
            Spelling::Source | Spelling::Plain | Spelling::Inline | Spelling::ReadFile => false,
        }
    }

    /// The medium, as the planner knows media.
    pub(crate) fn media(&self) -> Media<'a> {
        let kind = self.kind();
        if self.is_data_url() {
            Media::from_address(self.data, kind)
        } else {
            let label = self.label.and_then(|label| label.str());
            Media::from_base64(self.data, label.as_ref(), kind)
        }
    }

    /// The type that its sender says it has.
    fn declared(&self) -> String {
        if let Some(label) = self.label.and_then(|label| label.str()) {
            return label.decode().to_ascii_lowercase();
        }
        let data = self.data.raw();
        let head = String::from_utf8_lossy(&data[..data.len().min(64)]).to_ascii_lowercase();
        head.split_once("data:").map_or_else(String::new, |(_, rest)| rest.to_owned())
    }

    /// What the place is for.
    fn kind(&self) -> MediaKind {
        let declared = self.declared();
        let is_document = self.value.get("type").is_some_and(|kind| kind.is("document"));
        if declared.starts_with("audio/") || declared.starts_with("video/") {
            MediaKind::Audio
        } else if is_document || declared.starts_with("application/") {
            MediaKind::Document
        } else {
            MediaKind::Image
        }
    }

    /// The member that words take the place of, and the members that only pixels have.
    pub(crate) const fn members(&self) -> (&'static str, &'static [&'static str]) {
        match self.spelling {
            Spelling::Source => ("source", &[]),
            Spelling::InputImage => ("image_url", &["detail"]),
            Spelling::ImageUrl => ("image_url", &[]),
            Spelling::Plain => ("data", &["mimeType"]),
            Spelling::Inline => ("inlineData", &[]),
            Spelling::FilePart => ("url", &["mime", "filename", "source"]),
            Spelling::ReadFile | Spelling::Bare => ("", &[]),
        }
    }

    /// What the block calls itself once it holds words; nothing where blocks have no name.
    pub(crate) const fn name_of_words(&self) -> Option<&'static str> {
        match self.spelling {
            Spelling::InputImage => Some("input_text"),
            Spelling::Source | Spelling::ImageUrl | Spelling::Plain | Spelling::FilePart => {
                Some("text")
            }
            Spelling::Inline | Spelling::ReadFile | Spelling::Bare => None,
        }
    }
}
