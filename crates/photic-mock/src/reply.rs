//! The reply, before it is written for a wire.

use photic::Wire;
use serde_json::Value;

/// A reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The wire it is written for.
    pub(crate) wire: Wire,
    /// The model that was asked.
    pub(crate) model: String,
    /// Its number, from which IDs are made.
    pub(crate) number: u64,
    /// The time, in seconds since 1970.
    pub(crate) created: u64,
    /// Its content.
    pub(crate) said: ReplyContent,
    /// Its tokens.
    pub(crate) usage: Usage,
    /// `true` if the request asked for a stream.
    pub(crate) stream: bool,
    /// The request, since some wires echo parts of it.
    pub(crate) asked: Value,
}

/// The content of a reply: text or tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyContent {
    /// Text.
    Text(String),
    /// Calls of offered tools.
    Calls(Vec<Call>),
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Counts of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// All input tokens.
    pub(crate) input: u64,
    /// Input tokens from the cache.
    pub(crate) cached: u64,
    /// Input tokens written to the cache.
    pub(crate) written: u64,
    /// Input tokens of images.
    pub(crate) images: u64,
    /// Output tokens.
    pub(crate) output: u64,
}

impl ReplyContent {
    /// Its tokens: a quarter of its length.
    pub(crate) fn tokens(&self) -> u64 {
        let length = match self {
            Self::Text(text) => text.len(),
            Self::Calls(calls) => {
                calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum()
            }
        };
        length.div_ceil(4) as u64
    }

    /// The pieces in which text is streamed.
    pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
        text.split_inclusive(' ')
    }
}
