//! Replies in the shapes of each wire, whole and as streams.
//!
//! One wire, one file. They write; they decide nothing.

mod chat;
mod converse;
mod gemini;
mod messages;
mod ollama;
mod responses;

use photic::Wire;
use serde_json::Value;

use crate::reply::Reply;

/// The reply as one JSON document.
pub(crate) fn whole(reply: &Reply) -> Value {
    match reply.wire {
        Wire::OpenAiChat => chat::whole(reply),
        Wire::OpenAiResponses => responses::whole(reply),
        Wire::Anthropic => messages::whole(reply),
        Wire::Gemini => gemini::whole(reply),
        Wire::Converse => converse::whole(reply),
        Wire::Ollama => ollama::whole(reply),
    }
}

/// The id of the reply and what it adds to a conversation that the service keeps.
pub(crate) fn kept(reply: &Reply) -> (String, Vec<Value>) {
    match reply.wire {
        Wire::OpenAiResponses => (responses::id(reply), responses::output(reply)),
        Wire::Anthropic => (messages::id(reply), vec![messages::turn(reply)]),
        Wire::OpenAiChat | Wire::Gemini | Wire::Converse | Wire::Ollama => {
            (String::new(), Vec::new())
        }
    }
}

/// The reply as events, each as it stands on the wire.
pub(crate) fn events(reply: &Reply) -> Vec<Vec<u8>> {
    let bytes = |events: Vec<String>| events.into_iter().map(String::into_bytes).collect();
    match reply.wire {
        Wire::OpenAiChat => bytes(chat::events(reply)),
        Wire::OpenAiResponses => bytes(named(responses::events(reply))),
        Wire::Anthropic => bytes(named(messages::events(reply))),
        Wire::Gemini => bytes(gemini::events(reply)),
        Wire::Converse => converse::events(reply),
        Wire::Ollama => bytes(ollama::events(reply)),
    }
}

/// What the stream of a wire is called.
pub(crate) const fn stream_type(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::Gemini => {
            "text/event-stream; charset=utf-8"
        }
        Wire::Converse => "application/vnd.amazon.eventstream",
        Wire::Ollama => "application/x-ndjson",
    }
}

/// Events that say their own type twice: before the data and in it.
fn named(events: Vec<Value>) -> Vec<String> {
    let event = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n")
    };
    events.into_iter().map(event).collect()
}
