//! A typed "no": data that a model and a person can read, never an exception.

use serde::Serialize;

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The stable code.
    pub code: RefusalCode,
    /// What is wrong, in a sentence without a final period.
    pub says: String,
    /// What to do instead.
    pub hint: String,
}

/// The stable codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// Nothing there.
    Empty,
    /// Not an image at all.
    NotAnImage,
    /// An image of a format that is not decoded here.
    UnsupportedFormat,
    /// The file ends too early or contradicts itself.
    Corrupt,
    /// More pixels, frames, bytes or time than allowed.
    TooLarge,
    /// A region outside the image, or empty.
    BadRegion,
    /// No encoding fits the caps.
    CannotFit,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: RefusalCode, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, says: says.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.says)
    }
}
