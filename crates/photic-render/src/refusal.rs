//! A typed "no": data that a model and a person can read, never an exception.

use serde::{Deserialize, Serialize};

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The stable code.
    pub code: RefusalCode,
    /// What is wrong, in a sentence without a final period.
    pub says: String,
    /// What to do instead.
    pub hint: String,
}

/// The stable codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// Nothing there.
    Empty,
    /// Not what it was said to be, or broken beyond drawing.
    Corrupt,
    /// It takes a password to open it.
    Encrypted,
    /// It has no page of this number.
    NoSuchPage,
    /// A region outside the page, or empty.
    BadRegion,
    /// More bytes or more parts than are taken on.
    TooLarge,
    /// Drawing it took more time than allowed.
    TooSlow,
    /// Drawing it took more memory than allowed.
    TooMuchMemory,
    /// The renderer broke on it.
    Crashed,
    /// No renderer could be started.
    Unavailable,
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
