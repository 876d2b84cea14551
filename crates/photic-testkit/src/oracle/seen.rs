//! The content that a model would see: plain data, in the order of the request.
//!
//! This module owns the answer types and a few queries on them. It must never judge: the witness
//! does that.

/// The author of a text or picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// `system`, or the `instructions` of a Responses request.
    System,
    /// `developer`.
    Developer,
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
    /// The result of a tool call, in any place where the wire keeps it.
    ToolResult,
}

/// The source of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the request, decoded.
    Inline(Vec<u8>),
    /// At an address.
    Remote(String),
    /// Uploaded before, by its id.
    File(String),
}

/// One image that the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Position among all images of the request, from 0.
    pub order: usize,
    /// The author.
    pub slot: Slot,
    /// The call whose result holds it; `None` outside tool results, so also for hoisted images.
    pub owner: Option<String>,
    /// The text immediately before it in the same content.
    pub label: Option<String>,
    /// The declared type of inline bytes.
    pub media_type: Option<String>,
    /// The source of the bytes.
    pub source: Source,
    /// Width and height from the header of inline bytes.
    pub pixels: Option<(u32, u32)>,
    /// The `detail`, if the wire has it.
    pub detail: Option<String>,
    /// A JSON pointer to the part.
    pub pointer: String,
}

impl Image {
    /// Returns the decoded bytes of an inline image.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Inline(bytes) => Some(bytes),
            Source::Remote(_) | Source::File(_) => None,
        }
    }

    /// Returns the [`crate::image::digest`] of the decoded bytes, or 0 if there are none.
    pub fn digest(&self) -> u64 {
        self.bytes().map_or(0, crate::image::digest)
    }
}

/// One document (a PDF, a text file) that the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The author.
    pub slot: Slot,
    /// The call whose result holds it.
    pub owner: Option<String>,
    /// The declared type of inline bytes.
    pub media_type: Option<String>,
    /// File name or title.
    pub name: Option<String>,
    /// The source of the bytes.
    pub source: Source,
    /// A JSON pointer to the part.
    pub pointer: String,
}

/// One sound that the model hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audio {
    /// The author.
    pub slot: Slot,
    /// `wav`, `mp3`.
    pub format: String,
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// A JSON pointer to the part.
    pub pointer: String,
}

/// One piece of text the model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The author.
    pub slot: Slot,
    /// The call whose result holds it.
    pub owner: Option<String>,
    /// The text.
    pub text: String,
    /// A JSON pointer to the string.
    pub pointer: String,
}

/// One tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// Its text parts, joined by line breaks.
    pub text: String,
    /// `true` if it is marked as failed, on the wires that can mark it.
    pub is_error: bool,
    /// The number of images inside it.
    pub images: usize,
    /// A JSON pointer to the message, item or block.
    pub pointer: String,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the wire's text (compact JSON if the wire has an object).
    pub arguments: String,
    /// A JSON pointer to the call.
    pub pointer: String,
}

/// A part type or field the oracle does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// A JSON pointer to the part or field.
    pub pointer: String,
    /// The type of the part, or the name of the field.
    pub name: String,
}

/// A part that is neither a picture nor a text: a document, a sound, a film, a call, or a part
/// that the oracle does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// A JSON pointer to the part.
    pub pointer: String,
    /// Its type.
    pub kind: String,
    /// Its bytes as they are in the body.
    pub raw: String,
}

/// Everything that the model sees, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Images.
    pub images: Vec<Image>,
    /// Documents.
    pub documents: Vec<Document>,
    /// Sounds.
    pub audio: Vec<Audio>,
    /// Texts of every slot, tool results included.
    pub texts: Vec<Text>,
    /// Tool results.
    pub results: Vec<ToolResult>,
    /// Tool calls.
    pub calls: Vec<Call>,
    /// Parts and fields that were accepted without being read.
    pub unknown: Vec<Unknown>,
    /// Every part that is neither a picture nor a text, byte for byte.
    pub parts: Vec<Part>,
}

impl Seen {
    /// Returns the digests of all images, in order. Two requests that show the same agree on them.
    pub fn digests(&self) -> Vec<u64> {
        self.images.iter().map(Image::digest).collect()
    }

    /// Returns the texts of one slot, joined by line breaks.
    pub fn text_of(&self, slot: Slot) -> String {
        let texts = self.texts.iter().filter(|text| text.slot == slot);
        texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the result of a call; the last one if an id repeats.
    pub fn result(&self, call_id: &str) -> Option<&ToolResult> {
        self.results.iter().rev().find(|result| result.call_id == call_id)
    }

    /// Returns the images inside the result of a call.
    pub fn images_of<'a>(&'a self, call_id: &'a str) -> impl Iterator<Item = &'a Image> {
        self.images.iter().filter(move |image| image.owner.as_deref() == Some(call_id))
    }
}
