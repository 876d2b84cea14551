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
use photic::Wire;
use serde_json::{Value, json};

use crate::conversation::{TOOL, Turn};
use crate::file::File;

/// The body of a request.
pub(crate) fn body(wire: Wire, model: &str, turns: &[Turn]) -> Vec<u8> {
    let body = match wire {
        Wire::OpenAiChat => chat::body(model, turns),
        Wire::OpenAiResponses => responses::body(model, turns),
        Wire::Anthropic => messages::body(model, turns),
        Wire::Gemini => gemini::body(turns),
        Wire::Converse => converse::body(turns),
        Wire::Ollama => ollama::body(model, turns),
    };
    body.to_string().into_bytes()
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
