//! Refusals: typed answers instead of a picture, readable by models and people.

use serde::Serialize;

/// The reason why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The stable code.
    pub code: RefusalCode,
    /// A sentence about the problem, without a final period.
    pub says: String,
    /// Advice what to do instead.
    pub hint: String,
}

/// Stable codes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalCode {
    /// The file is empty.
    Empty,
    /// The file is not an image.
    NotAnImage,
    /// An image format that has no decoder here.
    UnsupportedFormat,
    /// The file ends too early or contradicts itself.
    Corrupt,
    /// The file exceeds a limit on pixels, frames, bytes or time.
    TooLarge,
    /// The region is empty or lies outside the image.
    BadRegion,
    /// No encoding fits the limits.
    CannotFit,
}

impl Refusal {
    /// Creates a refusal.
    pub fn new(code: RefusalCode, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, says: says.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.says)
    }
}
