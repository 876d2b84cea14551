//! The definition of a service, and helpers that several services use.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::Value;

use crate::rejection::{self, Rejection};
use crate::reply::Reply;
use crate::stored::{ExpandedBody, StoredConversations};

/// The provider's side of a wire.
pub(crate) trait Service: Sync {
    /// Facts about the service.
    fn facts(&self) -> ServiceFacts {
        ServiceFacts::default()
    }

    /// Writes a reply as one JSON document.
    fn whole(&self, reply: &Reply) -> Value;

    /// Writes a reply as the events of a stream, framing included.
    fn events(&self, reply: &Reply) -> Vec<Vec<u8>>;

    /// The ID of a reply, and what it adds to a stored conversation.
    fn kept(&self, _reply: &Reply) -> (String, Vec<Value>) {
        (String::new(), Vec::new())
    }

    /// Expands references of a request to stored conversations.
    fn expand(
        &self,
        _stored: &StoredConversations,
        _body: &mut Value,
    ) -> Result<ExpandedBody, Rejection> {
        Ok(ExpandedBody::default())
    }

    /// Rejects a body that breaks a rule.
    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        rejection::generic(wire, violation)
    }
}

/// Facts about a service.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, one a field")]
pub(crate) struct ServiceFacts {
    /// The member of a request that lists its messages.
    pub(crate) list: &'static str,
    /// The prefix of call IDs.
    pub(crate) call_prefix: &'static str,
    /// `true` if a key is required.
    pub(crate) wants_key: bool,
    /// `true` if requests stream by default.
    pub(crate) streams_unasked: bool,
    /// The number of cache breakpoints, if only marked prefixes are cached.
    pub(crate) cache_marks: Option<u32>,
    /// `true` if unknown members are errors.
    pub(crate) strict: bool,
    /// `true` if members that SDKs add to messages are ignored.
    pub(crate) lenient_messages: bool,
    /// `true` if tool messages may hold media, seen or not.
    pub(crate) media_in_results: bool,
}

impl Default for ServiceFacts {
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

/// Converts events to bytes.
pub(super) fn bytes(events: Vec<String>) -> Vec<Vec<u8>> {
    events.into_iter().map(String::into_bytes).collect()
}

/// Events whose type is stated before the data and in it.
pub(super) fn named(events: Vec<Value>) -> Vec<Vec<u8>> {
    let event = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n").into_bytes()
    };
    events.into_iter().map(event).collect()
}
