//! Dialects: the differences in spelling between endpoints of one wire.
//!
//! Owns the values in which a profile states them. Must never name the provider of a dialect: that
//! is data. Each default follows the wire's own definition, and leaves alone whatever came in.

use serde::{Deserialize, Serialize};

/// The form that call ids must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallIds {
    /// Any id that the wire takes.
    #[default]
    Any,
    /// Exactly nine letters or digits.
    NineLetters,
}

/// The spelling of an image address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageAddress {
    /// A string that came in stays a string; photic writes an object.
    #[default]
    Any,
    /// Only an object with a `url`.
    Object,
}

/// The part that holds a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocumentPart {
    /// A part that came in stays as it is; photic writes a `file` with an object.
    #[default]
    Any,
    /// A `document_url` for bytes, and a `file` with a `file_id` beside its type for stored files.
    DocumentUrl,
}

/// The form of `input_audio`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AudioPart {
    /// A value that came in stays as it is; photic writes an object with `data` and `format`.
    #[default]
    Any,
    /// A string of base64.
    String,
}

/// The setting that bounds an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerLimit {
    /// `max_completion_tokens`.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`; the longer name is refused.
    MaxTokens,
}

/// The endpoint's handling of the stream options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamOptions {
    /// They are accepted, and the usage of a reply is reported if they ask for it.
    #[default]
    Taken,
    /// They are refused, and the usage of a reply is always reported.
    Refused,
}
