//! Replies in the shapes of each wire, whole and as server-sent events.
//!
//! One wire, one file. They write; they decide nothing.

mod chat;
mod messages;
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
    }
}

/// The id of the reply and what it adds to a conversation that the service keeps.
pub(crate) fn kept(reply: &Reply) -> (String, Vec<Value>) {
    match reply.wire {
        Wire::OpenAiResponses => (responses::id(reply), responses::output(reply)),
        Wire::Anthropic => (messages::id(reply), vec![messages::turn(reply)]),
        Wire::OpenAiChat => (String::new(), Vec::new()),
    }
}

/// The reply as server-sent events, each as it stands on the wire.
pub(crate) fn events(reply: &Reply) -> Vec<String> {
    match reply.wire {
        Wire::OpenAiChat => chat::events(reply),
        Wire::OpenAiResponses => named(responses::events(reply)),
        Wire::Anthropic => named(messages::events(reply)),
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
