//! Refusals: typed answers instead of a page, readable by models and people.

use serde::{Deserialize, Serialize};

/// The reason why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The stable code.
    pub code: RefusalCode,
    /// A sentence about the problem, without a final period.
    pub says: String,
    /// Advice what to do instead.
    pub hint: String,
}

/// Stable codes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The source is empty.
    Empty,
    /// The source is not what it was declared as, or too broken to draw.
    Corrupt,
    /// A password is needed.
    Encrypted,
    /// There is no page of this number.
    NoSuchPage,
    /// The region is empty or lies outside the page.
    BadRegion,
    /// The source has more bytes or parts than allowed.
    TooLarge,
    /// Drawing it took more time than allowed.
    TooSlow,
    /// Drawing it took more memory than allowed.
    TooMuchMemory,
    /// The renderer crashed.
    Crashed,
    /// No renderer could be started.
    Unavailable,
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
