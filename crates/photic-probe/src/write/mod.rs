//! Conversations as bodies of a wire, literally: a picture is written where it stands, in the
//! spelling of that wire, whether or not anybody takes it there.

mod chat;
mod converse;
mod gemini;
mod messages;
mod ollama;
mod responses;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::profile::Placement;
use photic::{Policy, Profile, Wire};
use serde_json::{Value, json};

use crate::conversation::{TOOL, Turn};
use crate::file::File;

/// The body of a request.
pub(crate) fn body(wire: Wire, model: &str, turns: &[Turn]) -> Vec<u8> {
    match WRITERS.iter().find(|(name, _)| *name == wire.name()) {
        Some((_, write)) => write(model, turns).to_string().into_bytes(),
        None => translated(wire, &chat::body(model, turns)),
    }
}

/// Writes the body of a conversation with a model.
type Write = fn(&str, &[Turn]) -> Value;

/// The spellings that are written apart from `photic`, by the name of their wire.
const WRITERS: [(&str, Write); 6] = [
    ("openai-chat", chat::body),
    ("openai-responses", responses::body),
    ("anthropic", messages::body),
    ("gemini", |_, turns| gemini::body(turns)),
    ("bedrock-converse", |_, turns| converse::body(turns)),
    ("ollama", ollama::body),
];

/// A body of Chat Completions on another wire, with every picture in its place.
fn translated(wire: Wire, chat: &Value) -> Vec<u8> {
    let chat = chat.to_string();
    let mut profile = Profile::generic(wire);
    profile.placement.image = Placement::Native;
    let (transcript, _) = photic::lift(Wire::OpenAiChat, chat.as_bytes());
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    photic::lower(&transcript, &plan).body.to_vec()
}

fn has_calls(turns: &[Turn]) -> bool {
    turns.iter().any(|turn| matches!(turn, Turn::Calls(_)))
}

/// What the tool takes.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "source": { "type": "string" } },
        "required": ["source"],
    })
}

/// The id of a call, by its place among those of a turn.
fn id(index: usize) -> String {
    format!("{TOOL}_{}", index + 1)
}

fn data_url(file: &File) -> String {
    format!("data:{};base64,{}", file.media_type, STANDARD.encode(&file.bytes))
}
