//! Bodies of Ollama's `/api/chat`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::tool::{has_calls, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION, ToolResult};

/// Writes a body.
pub(super) fn body(model: &str, turns: &[ConversationTurn]) -> Value {
    // The server streams by default.
    let mut body = json!({ "model": model, "stream": false });
    if has_calls(turns) {
        let function =
            json!({ "name": TOOL, "description": TOOL_DESCRIPTION, "parameters": schema() });
        body["tools"] = json!([{ "type": "function", "function": function }]);
    }
    body["messages"] = turns.iter().flat_map(messages).collect();
    body
}

/// The messages of a turn.
fn messages(turn: &ConversationTurn) -> Vec<Value> {
    match turn {
        ConversationTurn::System(parts) => vec![message("system", parts)],
        ConversationTurn::User(parts) => vec![message("user", parts)],
        ConversationTurn::Assistant(text) => vec![json!({ "role": "assistant", "content": text })],
        ConversationTurn::Calls(sources) => {
            let call = |source: &&str| json!({ "function": { "name": TOOL, "arguments": { "source": source } } });
            let calls: Vec<Value> = sources.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": "", "tool_calls": calls })]
        }
        ConversationTurn::Results(outcomes) => {
            let result = |outcome: &ToolResult| {
                let mut result = message("tool", &outcome.parts);
                result["tool_name"] = TOOL.into();
                result
            };
            outcomes.iter().map(result).collect()
        }
    }
}

/// A message: text in one string, pictures beside it without their types.
fn message(role: &str, parts: &[ConversationPart]) -> Value {
    let (mut words, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ConversationPart::Text(text) => words.push(text.as_str()),
            ConversationPart::Picture(file) => images.push(STANDARD.encode(&file.bytes)),
            // The API has no field for URLs; as an image it is rejected, as it should be.
            ConversationPart::Address(address) => images.push(address.clone()),
        }
    }
    let mut message = json!({ "role": role, "content": words.join("\n") });
    if !images.is_empty() {
        message["images"] = images.into();
    }
    message
}
