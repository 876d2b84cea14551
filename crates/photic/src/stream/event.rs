//! The events of a streamed reply, in a form that all wires share.

use crate::json::Value;
use crate::reply::{Stop, Usage};

/// The options of a stream that a client asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamOptions {
    /// `true` for token counts at the end, on the wire that sends them only on request.
    pub(crate) usage: bool,
    /// `true` for chunks as the elements of one array, on the wire that has both forms.
    pub(crate) array: bool,
}

/// One event of a streamed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The reply begins.
    Begin(Begin),
    /// More text.
    Text(String),
    /// More text of a refusal.
    Refusal(String),
    /// A call begins; calls are counted from 0.
    Call(CallBegin),
    /// More of the arguments of a call: a piece of JSON text, or of free text if the call takes
    /// that.
    Arguments { index: usize, json: String },
    /// The reason why the reply is about to end.
    Stop(Stop),
    /// The token usage so far; a zero means that the count was not sent.
    Usage(Usage),
    /// The reply has ended.
    End,
    /// The reply failed.
    Failed(Failed),
}

/// The first facts of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begin {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) created: u64,
}

/// The first facts of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallBegin {
    pub(crate) index: usize,
    pub(crate) id: String,
    pub(crate) name: String,
    /// The group of tools that it belongs to, on the wire that has groups.
    pub(crate) namespace: Option<String>,
    /// `true` if it takes free text.
    pub(crate) free_text: bool,
}

impl Event {
    /// Creates the event of a call that takes JSON.
    pub(crate) fn call(index: usize, id: String, name: String) -> Self {
        Self::Call(CallBegin { index, id, name, ..CallBegin::default() })
    }
}

/// An error in mid-stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: String,
    pub(crate) message: String,
}

impl Failed {
    /// Creates an error of our own.
    pub(crate) fn ours(message: &str) -> Self {
        Self { kind: "api_error".to_owned(), message: message.to_owned() }
    }
}

impl Usage {
    /// Takes over the counts that the other has.
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

/// Returns the string member of that name, or an empty string.
pub(crate) fn text(value: Value<'_, '_>, name: &str) -> String {
    let text = value.get(name).and_then(|text| text.str());
    text.map(|text| text.decode().into_owned()).unwrap_or_default()
}

/// Reads an error, from the members that all wires share.
pub(crate) fn failed(error: Value<'_, '_>) -> Failed {
    let kind = [text(error, "type"), text(error, "code")].into_iter().find(|kind| !kind.is_empty());
    Failed { kind: kind.unwrap_or_else(|| "api_error".to_owned()), message: text(error, "message") }
}
