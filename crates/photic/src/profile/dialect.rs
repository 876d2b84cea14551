//! Dialects: what endpoints of one wire spell differently.
//!
//! Owns the words a profile states them in. Must never say whose dialect it is: that is data. Each
//! default is what the wire's own definition says, and leaves alone whatever came in.

use serde::{Deserialize, Serialize};

/// What the ids of calls must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIds {
    /// Whatever the wire takes.
    #[default]
    Any,
    /// Exactly nine letters or digits.
    NineLetters,
}

/// How the address of an image is spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageAddress {
    /// A string that came stays a string; what we write is an object.
    #[default]
    Any,
    /// An object with a `url`, and nothing else.
    Object,
}

/// The part that holds a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentPart {
    /// What came stays; what we write is a `file` with an object.
    #[default]
    Any,
    /// A `document_url` for bytes, a `file` with a `file_id` beside its type for what is stored.
    DocumentUrl,
}

/// What `input_audio` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AudioPart {
    /// What came stays; what we write is an object with `data` and `format`.
    #[default]
    Any,
    /// The base64 itself.
    String,
}

/// The setting that bounds an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerLimit {
    /// `max_completion_tokens`.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`; the longer name is refused.
    MaxTokens,
}

/// Whether a stream has options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamOptions {
    /// It has, and what a reply cost is told if they ask for it.
    #[default]
    Taken,
    /// The setting is refused, and what a reply cost is told anyway.
    Refused,
}
