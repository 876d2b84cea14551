//! Bodies of the Messages API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::tool::{has_calls, id, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION, ToolResult};

/// Tokens for an answer, and for thinking before it.
const MAX_TOKENS: u32 = 2048;

/// Writes a body.
pub(super) fn body(model: &str, turns: &[ConversationTurn]) -> Value {
    let mut body = json!({ "model": model, "max_tokens": MAX_TOKENS });
    if has_calls(turns) {
        body["tools"] =
            json!([{ "name": TOOL, "description": TOOL_DESCRIPTION, "input_schema": schema() }]);
    }
    if let Some(ConversationTurn::System(parts)) = turns.first() {
        body["system"] = content(parts);
    }
    body["messages"] = turns.iter().filter_map(message).collect();
    body
}

/// The message of a turn.
fn message(turn: &ConversationTurn) -> Option<Value> {
    match turn {
        ConversationTurn::System(_) => None,
        ConversationTurn::User(parts) => Some(json!({ "role": "user", "content": content(parts) })),
        ConversationTurn::Assistant(text) => Some(json!({ "role": "assistant", "content": text })),
        ConversationTurn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let input = json!({ "source": source });
                json!({ "type": "tool_use", "id": id(index), "name": TOOL, "input": input })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            Some(json!({ "role": "assistant", "content": calls }))
        }
        ConversationTurn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &ToolResult)| {
                let mut result = json!({
                    "type": "tool_result",
                    "tool_use_id": id(index),
                    "content": content(&outcome.parts),
                });
                if outcome.failed {
                    result["is_error"] = true.into();
                }
                result
            };
            let results: Vec<Value> = outcomes.iter().enumerate().map(result).collect();
            Some(json!({ "role": "user", "content": results }))
        }
    }
}

/// The content of a message.
fn content(parts: &[ConversationPart]) -> Value {
    let part = |part: &ConversationPart| match part {
        ConversationPart::Text(text) => json!({ "type": "text", "text": text }),
        ConversationPart::Picture(file) => {
            let data = STANDARD.encode(&file.bytes);
            let source = json!({ "type": "base64", "media_type": file.media_type, "data": data });
            json!({ "type": "image", "source": source })
        }
        ConversationPart::Address(address) => {
            json!({ "type": "image", "source": { "type": "url", "url": address } })
        }
    };
    parts.iter().map(part).collect()
}
