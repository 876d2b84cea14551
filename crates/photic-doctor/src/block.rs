//! The JSON blocks in which sessions store a medium, and the form of a notice in the same position.
//!
//! Knows the members that hold bytes, type and text. Agents and repairs are not known here.

use photic::json::{Kind, Value};
use photic::media::{Media, MediaKind};

/// The form of a block with a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockForm {
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
    /// A data URL in a list, which is never sent.
    Bare,
}

/// A block with a medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'d, 'a> {
    /// The whole block.
    pub(crate) value: Value<'d, 'a>,
    /// Its form.
    pub(crate) spelling: BlockForm,
    /// The string with the bytes: base64, or a data URL.
    pub(crate) data: Value<'d, 'a>,
    /// The string with the media type, if it is not part of the data.
    pub(crate) label: Option<Value<'d, 'a>>,
}

impl<'d, 'a> Block<'d, 'a> {
    /// Reads a value as a block, if it is one.
    pub(crate) fn read(value: Value<'d, 'a>) -> Option<Self> {
        if value.kind() != Kind::Object {
            return None;
        }
        let block = |spelling, data, label| {
            Some(Self { value, spelling, data, label }).filter(Self::is_sound)
        };
        if let Some(inline) = value.get("inlineData") {
            return block(BlockForm::Inline, inline.get("data")?, inline.get("mimeType"));
        }
        let kind = value.get("type")?;
        if kind.is("image") || kind.is("document") {
            if let Some(source) = value.get("source") {
                let is_base64 = source.get("type").is_some_and(|kind| kind.is("base64"));
                let data = source.get("data").filter(|_| is_base64)?;
                return block(BlockForm::Source, data, source.get("media_type"));
            }
            if let Some(file) = value.get("file") {
                return block(BlockForm::ReadFile, file.get("base64")?, file.get("type"));
            }
            return block(BlockForm::Plain, value.get("data")?, value.get("mimeType"));
        }
        if kind.is("input_image") {
            return block(BlockForm::InputImage, value.get("image_url")?, None);
        }
        if kind.is("image_url") {
            return block(BlockForm::ImageUrl, value.get("image_url")?.get("url")?, None);
        }
        if kind.is("file") {
            return block(BlockForm::FilePart, value.get("url")?, value.get("mime"));
        }
        None
    }

    /// Reads a string that is a data URL.
    pub(crate) fn bare(value: Value<'d, 'a>) -> Option<Self> {
        let block = Self { value, spelling: BlockForm::Bare, data: value, label: None };
        Some(block).filter(Self::is_sound)
    }

    /// Returns `true` for media inside the file: other URLs are not, and attached texts are no
    /// media.
    fn is_sound(&self) -> bool {
        let is_data = |text: &[u8]| {
            let start = text.get(1..).unwrap_or_default().trim_ascii_start();
            start.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"data:"))
        };
        self.data.kind() == Kind::String
            && (!self.is_data_url() || is_data(self.data.raw()))
            && !self.declared().starts_with("text/")
    }

    /// Returns `true` if the bytes are in a data URL.
    pub(crate) const fn is_data_url(&self) -> bool {
        match self.spelling {
            BlockForm::InputImage | BlockForm::ImageUrl | BlockForm::FilePart | BlockForm::Bare => {
                true
            }
            BlockForm::Source | BlockForm::Plain | BlockForm::Inline | BlockForm::ReadFile => false,
        }
    }

    /// The medium in the form that the planner uses.
    pub(crate) fn media(&self) -> Media<'a> {
        let kind = self.kind();
        if self.is_data_url() {
            Media::from_address(self.data, kind)
        } else {
            let label = self.label.and_then(|label| label.str());
            Media::from_base64(self.data, label.as_ref(), kind)
        }
    }

    /// The declared media type.
    fn declared(&self) -> String {
        if let Some(label) = self.label.and_then(|label| label.str()) {
            return label.decode().to_ascii_lowercase();
        }
        let data = self.data.raw();
        let head = String::from_utf8_lossy(&data[..data.len().min(64)]).to_ascii_lowercase();
        head.split_once("data:").map_or_else(String::new, |(_, rest)| rest.to_owned())
    }

    /// The kind of medium that the block is for.
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

    /// The member that a notice replaces, and the members that only pictures have.
    pub(crate) const fn members(&self) -> (&'static str, &'static [&'static str]) {
        match self.spelling {
            BlockForm::Source => ("source", &[]),
            BlockForm::InputImage => ("image_url", &["detail"]),
            BlockForm::ImageUrl => ("image_url", &[]),
            BlockForm::Plain => ("data", &["mimeType"]),
            BlockForm::Inline => ("inlineData", &[]),
            BlockForm::FilePart => ("url", &["mime", "filename", "source"]),
            BlockForm::ReadFile | BlockForm::Bare => ("", &[]),
        }
    }

    /// The `type` of the block with a notice; `None` if blocks have no type.
    pub(crate) const fn notice_type(&self) -> Option<&'static str> {
        match self.spelling {
            BlockForm::InputImage => Some("input_text"),
            BlockForm::Source | BlockForm::ImageUrl | BlockForm::Plain | BlockForm::FilePart => {
                Some("text")
            }
            BlockForm::Inline | BlockForm::ReadFile | BlockForm::Bare => None,
        }
    }
}
