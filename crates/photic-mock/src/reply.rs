//! What the provider says, before it is written for a wire.

use photic::Wire;
use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The wire it is written for.
    pub(crate) wire: Wire,
    /// The model that was asked.
    pub(crate) model: String,
    /// A number of its own, from which its ids are made.
    pub(crate) number: u64,
    /// When, in seconds.
    pub(crate) created: u64,
    /// What is said.
    pub(crate) said: Said,
    /// What it costs.
    pub(crate) usage: Usage,
    /// The request asked for a stream.
    pub(crate) stream: bool,
    /// The request itself: some wires echo parts of it.
    pub(crate) asked: Value,
}

/// Words or calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Words.
    Text(String),
    /// Calls of tools that were offered.
    Calls(Vec<Call>),
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Everything that was read.
    pub(crate) input: u64,
    /// How much of it came from the cache.
    pub(crate) cached: u64,
    /// How much of it was written to the cache.
    pub(crate) written: u64,
    /// How much of it were images.
    pub(crate) images: u64,
    /// What was written.
    pub(crate) output: u64,
}

impl Said {
    /// Tokens of it: a quarter of its length.
    pub(crate) fn tokens(&self) -> u64 {
        let length = match self {
            Self::Text(text) => text.len(),
            Self::Calls(calls) => {
                calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum()
            }
        };
        length.div_ceil(4) as u64
    }

    /// The pieces in which words are streamed.
    pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
        text.split_inclusive(' ')
    }
}
