//! The positions of a picture in a request, and notices in place of one.

use serde::{Deserialize, Serialize};

/// The position of a picture in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PicturePosition {
    /// In the user's message, with the question.
    User,
    /// In the result of a tool, in the form of the wire.
    Tool,
    /// Returned by a tool, and moved after its result by `photic`.
    Hoisted,
    /// As [`PicturePosition::Hoisted`], after two parallel calls with a picture each.
    Parallel,
    /// In the result of a tool that failed.
    Error,
    /// In the system prompt.
    System,
    /// In the user's message of an earlier turn.
    Previous,
    /// In the user's message, as a URL.
    Url,
}

impl PicturePosition {
    /// All positions, in the order in which they are tested.
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

    /// The name in options and files.
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

    /// Finds a position by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }

    /// A description for people.
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

/// A notice of `photic` in place of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// For a view that was replaced by newer ones.
    Elided,
    /// For a model that takes no pictures.
    Refused,
}

impl Notice {
    /// All notices.
    pub const ALL: [Self; 2] = [Self::Elided, Self::Refused];

    /// The name in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elided => "elided",
            Self::Refused => "refused",
        }
    }

    /// Finds a notice by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.name() == name)
    }
}
