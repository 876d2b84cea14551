//! The parts of a reply, in a form that all wires share.

use crate::json::Str;
use crate::transcript::Transcript;

/// A lifted reply.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    /// Its id.
    pub id: Option<Str<'a>>,
    /// The model that answered.
    pub model: Option<Str<'a>>,
    /// Time of creation in Unix seconds; some wires do not state it.
    pub created: Option<u64>,
    /// The reason why it ended.
    pub stop: Stop,
    /// The token usage.
    pub usage: Option<Usage>,
    /// The error it is, if it is one.
    pub error: Option<Failure<'a>>,
    /// The content, as a transcript of one turn.
    pub(crate) said: Transcript<'a>,
    /// `true` if calls have the form that the client declared their tools in.
    pub(crate) restores_calls: bool,
}

/// The reason why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

/// The token usage of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input tokens, cached or not.
    pub input: u64,
    /// All output tokens.
    pub output: u64,
    /// Input tokens that were read from the cache.
    pub cache_read: u64,
    /// Input tokens that were written to the cache.
    pub cache_write: u64,
    /// Output tokens that were reasoning.
    pub reasoning: u64,
}

/// An error instead of an answer.
#[derive(Clone, Debug)]
pub struct Failure<'a> {
    /// The provider's name for the error.
    pub kind: Option<Str<'a>>,
    /// The provider's message.
    pub message: Str<'a>,
}
