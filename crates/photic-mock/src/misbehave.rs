//! The kinds of misbehavior that can be requested.
//!
//! Only their names are here; each takes effect in the module it concerns.

use std::fmt;
use std::str::FromStr;

/// A kind of misbehavior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misbehavior {
    /// Accepts images in tool results, but does not see them.
    IgnoreToolImages,
    /// Accepts images, but sees none.
    DropImages,
    /// Counts the base64 of images as text.
    BillAsText,
    /// Is one turn late: content since the assistant's last message is not seen yet.
    Late,
    /// Answers 429.
    RateLimit,
    /// Answers 429 to every tenth request, and to all others for a second.
    Busy,
    /// Answers 500.
    ServerError,
    /// Reads the request and never answers.
    Hang,
    /// Ends the connection in the middle of the reply.
    Cut,
    /// Ends the connection after reading the request.
    Close,
    /// Answers 200 with an empty body.
    Empty,
    /// Gives the same answer whatever it sees.
    Constant,
    /// Invents an answer that fits the question, whatever it sees.
    Guess,
}

impl Misbehavior {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::IgnoreToolImages,
        Self::DropImages,
        Self::BillAsText,
        Self::Late,
        Self::RateLimit,
        Self::Busy,
        Self::ServerError,
        Self::Hang,
        Self::Cut,
        Self::Close,
        Self::Empty,
        Self::Constant,
        Self::Guess,
    ];

    /// The name in options and in the header `x-mock-misbehave`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IgnoreToolImages => "ignore-tool-images",
            Self::DropImages => "drop-images",
            Self::BillAsText => "bill-as-text",
            Self::Late => "late",
            Self::RateLimit => "429",
            Self::Busy => "busy",
            Self::ServerError => "500",
            Self::Hang => "hang",
            Self::Cut => "cut",
            Self::Close => "close",
            Self::Empty => "empty",
            Self::Constant => "constant",
            Self::Guess => "guess",
        }
    }
}

impl fmt::Display for Misbehavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Misbehavior {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        let names = || Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("`{name}` is not one of {}", names()))
    }
}
