//! Bodies of the Responses API.

use serde_json::{Value, json};

use super::tool::{data_url, has_calls, id, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION, ToolResult};

/// Writes a body.
pub(super) fn body(model: &str, turns: &[ConversationTurn]) -> Value {
    let mut body = json!({ "model": model });
    // A probe must not be stored.
    body["store"] = false.into();
    if has_calls(turns) {
        let tool = json!({
            "type": "function",
            "name": TOOL,
            "description": TOOL_DESCRIPTION,
            "parameters": schema(),
            "strict": false,
        });
        body["tools"] = json!([tool]);
    }
    body["input"] = turns.iter().flat_map(items).collect();
    body
}

/// The items of a turn.
fn items(turn: &ConversationTurn) -> Vec<Value> {
    match turn {
        ConversationTurn::System(parts) => {
            vec![json!({ "role": "system", "content": content(parts) })]
        }
        ConversationTurn::User(parts) => vec![json!({ "role": "user", "content": content(parts) })],
        // In full: the llama.cpp server does not accept the short form.
        ConversationTurn::Assistant(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            vec![json!({ "type": "message", "role": "assistant", "content": content })]
        }
        ConversationTurn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let arguments = json!({ "source": source }).to_string();
                json!({
                    "type": "function_call",
                    "call_id": id(index),
                    "name": TOOL,
                    "arguments": arguments,
                })
            };
            sources.iter().enumerate().map(call).collect()
        }
        ConversationTurn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &ToolResult)| {
                let output = match outcome.parts.as_slice() {
                    [ConversationPart::Text(text)] => text.as_str().into(),
                    parts => content(parts),
                };
                json!({ "type": "function_call_output", "call_id": id(index), "output": output })
            };
            outcomes.iter().enumerate().map(result).collect()
        }
    }
}

/// The content of an item.
fn content(parts: &[ConversationPart]) -> Value {
    let image = |url: &str| json!({ "type": "input_image", "image_url": url, "detail": "auto" });
    let part = |part: &ConversationPart| match part {
        ConversationPart::Text(text) => json!({ "type": "input_text", "text": text }),
        ConversationPart::Picture(file) => image(&data_url(file)),
        ConversationPart::Address(address) => image(address),
    };
    parts.iter().map(part).collect()
}
