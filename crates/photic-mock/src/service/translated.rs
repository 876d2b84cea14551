//! A wire without a service of its own: replies of Chat Completions, translated by `photic`.

use photic::{Stream, Wire};
use photic_testkit::oracle::Violation;
use serde_json::Value;

use super::{Service, chat};
use crate::rejection::Rejection;
use crate::reply::Reply;

pub(super) struct Translated;

impl Service for Translated {
    fn whole(&self, reply: &Reply) -> Value {
        let whole = chat::Chat.whole(reply).to_string();
        let lifted = photic::lift_reply(Wire::OpenAiChat, whole.as_bytes());
        let written = photic::lower_reply(&lifted, reply.wire).to_vec();
        serde_json::from_slice(&written).unwrap_or_default()
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        let mut stream = Stream::new(Wire::OpenAiChat, reply.wire, true);
        let events = chat::Chat.events(reply);
        let mut out: Vec<Vec<u8>> = events.iter().map(|event| stream.feed(event)).collect();
        out.push(stream.finish());
        out.retain(|event| !event.is_empty());
        out
    }
}

/// The words of a service that says little about what is wrong where.
pub(super) fn violation(wire: Wire, violation: &Violation) -> Rejection {
    invalid(wire, violation, "invalid_request_error", &violation.text)
}

/// A rejection of that kind, or the one for bodies that are too large.
pub(super) fn invalid(
    wire: Wire,
    violation: &Violation,
    kind: &'static str,
    message: &str,
) -> Rejection {
    match violation.code {
        "body_too_large" => Rejection::too_large(wire),
        _ => Rejection::new(400, kind, message),
    }
}
