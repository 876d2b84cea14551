//! The provider's side of each wire: replies, streams, rejections.
//!
//! Each service has a file. They are written independently of `photic`, so that a mistake in one is
//! not repeated in the other. A wire without a file here is served by `translated`.

mod chat;
mod converse;
mod definition;
mod gemini;
mod messages;
mod ollama;
mod responses;
mod translated;

use photic::Wire;
use photic_testkit::oracle::Violation;

use crate::rejection::Rejection;
pub(crate) use converse::frame as event_frame;
use definition::Service;

/// Services that are written independently of `photic`, by the name of their wire.
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

/// Rejects a body that breaks a rule.
pub(crate) fn reject(wire: Wire, violation: &Violation) -> Rejection {
    service(wire).violation(wire, violation)
}

/// Rejects an image whose container is intact, but whose pixels cannot be read.
pub(crate) fn reject_undecodable(wire: Wire, pointer: &str) -> Rejection {
    let text = "it cannot be decoded".to_owned();
    reject(wire, &Violation { code: "image_invalid", pointer: pointer.to_owned(), text })
}
