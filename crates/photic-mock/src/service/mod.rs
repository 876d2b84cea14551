//! The provider's side of each wire, in the provider's own words: replies, streams, rejections.
//!
//! One service, one file. They are written apart from `photic`, so that an error of one is not
//! repeated by the other. A wire without a file here is served by `translated`.

mod chat;
mod converse;
mod gemini;
mod messages;
mod ollama;
mod responses;
mod translated;

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::Value;

use crate::rejection::Rejection;
use crate::reply::Reply;
use crate::stored::{Expanded, Stored};

/// A provider's side of a wire.
pub(crate) trait Service: Sync {
    /// Facts about the service.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Writes a reply as one JSON document.
    fn whole(&self, reply: &Reply) -> Value;

    /// Writes a reply as the events of a stream, framing included.
    fn events(&self, reply: &Reply) -> Vec<Vec<u8>>;

    /// The id of a reply and what it adds to a conversation that the service keeps.
    fn kept(&self, _reply: &Reply) -> (String, Vec<Value>) {
        (String::new(), Vec::new())
    }

    /// Writes out what a request refers to in conversations that the service keeps.
    fn expand(&self, _stored: &Stored, _body: &mut Value) -> Result<Expanded, Rejection> {
        Ok(Expanded::default())
    }

    /// Rejects a body that breaks a rule.
    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        translated::violation(wire, violation)
    }
}

/// Facts about a service.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, one a field")]
pub(crate) struct Facts {
    /// The member of a request that lists its messages.
    pub(crate) list: &'static str,
    /// What ids of calls begin with.
    pub(crate) call_prefix: &'static str,
    /// A key is required.
    pub(crate) wants_key: bool,
    /// A request that does not say so asks for a stream.
    pub(crate) streams_unasked: bool,
    /// Only what is marked is cached; so many marks are allowed.
    pub(crate) cache_marks: Option<u32>,
    /// Unknown members are errors.
    pub(crate) strict: bool,
    /// Members that SDKs add to messages of their own accord are ignored.
    pub(crate) lenient_messages: bool,
    /// A tool message may hold media, whatever the model makes of them.
    pub(crate) media_in_results: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            list: "messages",
            call_prefix: "call",
            wants_key: true,
            streams_unasked: false,
            cache_marks: None,
            strict: true,
            lenient_messages: false,
            media_in_results: false,
        }
    }
}

/// The services that are written apart from `photic`, by the name of their wire.
const SERVICES: [(&str, &dyn Service); 6] = [
    ("openai-chat", &chat::Chat),
    ("openai-responses", &responses::Responses),
    ("anthropic", &messages::Messages),
    ("gemini", &gemini::Gemini),
    ("bedrock-converse", &converse::Converse),
    ("ollama", &ollama::Ollama),
];

/// The service of a wire.
pub(crate) fn service(wire: Wire) -> &'static dyn Service {
    let own = SERVICES.iter().find(|(name, _)| *name == wire.name());
    own.map_or(&translated::Translated, |(_, service)| *service)
}

/// Strings as bytes.
fn bytes(events: Vec<String>) -> Vec<Vec<u8>> {
    events.into_iter().map(String::into_bytes).collect()
}

/// Events that say their own type twice: before the data and in it.
fn named(events: Vec<Value>) -> Vec<Vec<u8>> {
    let event = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n").into_bytes()
    };
    events.into_iter().map(event).collect()
}
