//! The parts of a reply, in words that every wire shares.

use crate::json::Str;
use crate::transcript::Transcript;

/// A lifted reply.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    /// Its id.
    pub id: Option<Str<'a>>,
    /// The model that answered.
    pub model: Option<Str<'a>>,
    /// When, in seconds; some wires do not say.
    pub created: Option<u64>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub usage: Option<Usage>,
    /// The error it is, if it is one.
    pub error: Option<Failure<'a>>,
    /// What was said, as a transcript of one turn.
    pub(crate) said: Transcript<'a>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// The model was done.
    #[default]
    End,
    /// It called tools.
    Calls,
    /// It reached the limit of tokens.
    Length,
    /// It reached a stop string.
    Sequence,
    /// It or a filter declined.
    Refused,
}

/// What a reply cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Everything that was read, cached or not.
    pub input: u64,
    /// Everything that was written.
    pub output: u64,
    /// How much of the input came from the cache.
    pub cache_read: u64,
    /// How much of the input was written to the cache.
    pub cache_write: u64,
    /// How much of the output was reasoning.
    pub reasoning: u64,
}

/// An error instead of an answer.
#[derive(Clone, Debug)]
pub struct Failure<'a> {
    /// The provider's word for it.
    pub kind: Option<Str<'a>>,
    /// The provider's sentence.
    pub message: Str<'a>,
}
