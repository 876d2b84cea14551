//! The declaration of the tool and the IDs of its calls, shared by all wires.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::conversation::{ConversationTurn, TOOL};
use crate::file::PictureFile;

/// Returns `true` if the conversation has tool calls.
pub(super) fn has_calls(turns: &[ConversationTurn]) -> bool {
    turns.iter().any(|turn| matches!(turn, ConversationTurn::Calls(_)))
}

/// The JSON Schema of the tool's arguments.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "source": { "type": "string" } },
        "required": ["source"],
    })
}

/// The ID of a call.
pub(super) fn id(index: usize) -> String {
    format!("{TOOL}_{}", index + 1)
}

/// A file as a data URL.
pub(super) fn data_url(file: &PictureFile) -> String {
    format!("data:{};base64,{}", file.media_type, STANDARD.encode(&file.bytes))
}
