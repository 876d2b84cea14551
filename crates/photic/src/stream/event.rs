//! What happens in a streamed reply, in words that every wire shares.

use crate::json::Value;
use crate::reply::{Stop, Usage};

/// What a client asked of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamOptions {
    /// Token counts at the end, on the wire that sends them on request only.
    pub(crate) usage: bool,
    /// Chunks as the elements of one array, on the wire that has both forms.
    pub(crate) array: bool,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The reply begins.
    Begin(Begin),
    /// More words.
    Text(String),
    /// More words of a refusal.
    Refusal(String),
    /// A call begins; calls are counted from 0.
    Call { index: usize, id: String, name: String },
    /// More of the arguments of a call: a piece of JSON text.
    Arguments { index: usize, json: String },
    /// Why the reply is about to end.
    Stop(Stop),
    /// What it cost so far; what is zero was not said.
    Usage(Usage),
    /// The reply has ended.
    End,
    /// It failed.
    Failed(Failed),
}

/// How a reply begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begin {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) created: u64,
}

/// An error in mid-stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: String,
    pub(crate) message: String,
}

impl Failed {
    /// One of our own.
    pub(crate) fn ours(message: &str) -> Self {
        Self { kind: "api_error".to_owned(), message: message.to_owned() }
    }
}

impl Usage {
    /// Takes over what the other says.
    pub(crate) const fn update(&mut self, other: &Self) {
        const fn newer(old: &mut u64, new: u64) {
            if new > 0 {
                *old = new;
            }
        }
        newer(&mut self.input, other.input);
        newer(&mut self.output, other.output);
        newer(&mut self.cache_read, other.cache_read);
        newer(&mut self.cache_write, other.cache_write);
        newer(&mut self.reasoning, other.reasoning);
    }
}

/// The string of that name, or an empty one.
pub(crate) fn text(value: Value<'_, '_>, name: &str) -> String {
    let text = value.get(name).and_then(|text| text.str());
    text.map(|text| text.decode().into_owned()).unwrap_or_default()
}

/// An error, in the members that all wires share.
pub(crate) fn failed(error: Value<'_, '_>) -> Failed {
    let kind = [text(error, "type"), text(error, "code")].into_iter().find(|kind| !kind.is_empty());
    Failed { kind: kind.unwrap_or_else(|| "api_error".to_owned()), message: text(error, "message") }
}
