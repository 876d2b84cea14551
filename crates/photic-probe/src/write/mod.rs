//! Writes conversations as request bodies of each wire, with a picture in its position even if the
//! API may not accept it there.

mod chat;
mod converse;
mod gemini;
mod messages;
mod ollama;
mod responses;
mod tool;

use photic::profile::Placement;
use photic::{Policy, Profile, Wire};
use serde_json::Value;

use crate::conversation::ConversationTurn;

/// Writes the body of a request.
pub(crate) fn body(wire: Wire, model: &str, turns: &[ConversationTurn]) -> Vec<u8> {
    match WRITERS.iter().find(|(name, _)| *name == wire.name()) {
        Some((_, write)) => write(model, turns).to_string().into_bytes(),
        None => translated(wire, &chat::body(model, turns)),
    }
}

/// Writes the body of a conversation with a model.
type Write = fn(&str, &[ConversationTurn]) -> Value;

/// Writers that are independent of `photic`, by the name of their wire.
const WRITERS: [(&str, Write); 6] = [
    ("openai-chat", chat::body),
    ("openai-responses", responses::body),
    ("anthropic", messages::body),
    ("gemini", |_, turns| gemini::body(turns)),
    ("bedrock-converse", |_, turns| converse::body(turns)),
    ("ollama", ollama::body),
];

/// Translates a body of Chat Completions to another wire, with every picture in its position.
fn translated(wire: Wire, chat: &Value) -> Vec<u8> {
    let chat = chat.to_string();
    let mut profile = Profile::generic(wire);
    profile.placement.image = Placement::Native;
    let (transcript, _) = photic::lift(Wire::OpenAiChat, chat.as_bytes());
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    photic::lower(&transcript, &plan).body.to_vec()
}
