//! Where a picture can stand in a request, and what can stand there instead of one.

use serde::{Deserialize, Serialize};

/// Where a picture stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the user's message, with the question.
    User,
    /// In the result of a tool, as the wire spells pictures there.
    Tool,
    /// Returned by a tool, and moved behind its result by `photic`.
    Hoisted,
    /// As [`Place::Hoisted`], after two calls at once with a picture each.
    Parallel,
    /// In the result of a tool that failed.
    Error,
    /// In the system prompt.
    System,
    /// In the user's message of an earlier turn.
    Previous,
    /// In the user's message, as an address to be fetched.
    Url,
}

impl Place {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Tool,
        Self::Hoisted,
        Self::Parallel,
        Self::Error,
        Self::System,
        Self::Previous,
        Self::Url,
    ];

    /// Its name, in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tool => "tool",
            Self::Hoisted => "hoisted",
            Self::Parallel => "parallel",
            Self::Error => "error",
            Self::System => "system",
            Self::Previous => "previous",
            Self::Url => "url",
        }
    }

    /// The place of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }

    /// What it is, for people.
    pub const fn says(self) -> &'static str {
        match self {
            Self::User => "user message",
            Self::Tool => "tool result",
            Self::Hoisted => "hoisted",
            Self::Parallel => "hoisted, parallel",
            Self::Error => "failed result",
            Self::System => "system prompt",
            Self::Previous => "previous turn",
            Self::Url => "by address",
        }
    }
}

/// A sentence of `photic` that stands where a picture is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A view that gave way to newer ones.
    Elided,
    /// A picture for a model that takes none.
    Refused,
}

impl Notice {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Elided, Self::Refused];

    /// Its name, in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elided => "elided",
            Self::Refused => "refused",
        }
    }

    /// The notice of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.name() == name)
    }
}
