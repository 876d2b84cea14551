//! Bodies of `Converse`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::tool::{has_calls, id, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION, ToolResult};

/// Writes a body. The URL names the model.
pub(super) fn body(turns: &[ConversationTurn]) -> Value {
    let mut body = json!({});
    if has_calls(turns) {
        let input = json!({ "json": schema() });
        let spec = json!({ "name": TOOL, "description": TOOL_DESCRIPTION, "inputSchema": input });
        body["toolConfig"] = json!({ "tools": [{ "toolSpec": spec }] });
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
        ConversationTurn::Assistant(text) => {
            Some(json!({ "role": "assistant", "content": [{ "text": text }] }))
        }
        ConversationTurn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let input = json!({ "source": source });
                json!({ "toolUse": { "toolUseId": id(index), "name": TOOL, "input": input } })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            Some(json!({ "role": "assistant", "content": calls }))
        }
        ConversationTurn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &ToolResult)| {
                let status = if outcome.failed { "error" } else { "success" };
                let content = content(&outcome.parts);
                json!({ "toolResult": { "toolUseId": id(index), "content": content, "status": status } })
            };
            let results: Vec<Value> = outcomes.iter().enumerate().map(result).collect();
            Some(json!({ "role": "user", "content": results }))
        }
    }
}

/// The content of a message.
fn content(parts: &[ConversationPart]) -> Value {
    let part = |part: &ConversationPart| match part {
        ConversationPart::Text(text) => json!({ "text": text }),
        ConversationPart::Picture(file) => {
            let format = file.media_type.strip_prefix("image/").unwrap_or(file.media_type);
            let data = STANDARD.encode(&file.bytes);
            json!({ "image": { "format": format, "source": { "bytes": data } } })
        }
        // The API takes only URLs of S3, and has to reject others itself.
        ConversationPart::Address(address) => {
            json!({ "image": { "format": "png", "source": { "s3Location": { "uri": address } } } })
        }
    };
    parts.iter().map(part).collect()
}
