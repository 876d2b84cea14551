//! Bodies of Chat Completions.

use serde_json::{Value, json};

use super::tool::{data_url, has_calls, id, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION};

/// Writes a body.
pub(super) fn body(model: &str, turns: &[ConversationTurn]) -> Value {
    let mut body = json!({ "model": model });
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
        ConversationTurn::System(parts) => {
            vec![json!({ "role": "system", "content": content(parts) })]
        }
        ConversationTurn::User(parts) => vec![json!({ "role": "user", "content": content(parts) })],
        ConversationTurn::Assistant(text) => vec![json!({ "role": "assistant", "content": text })],
        ConversationTurn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let arguments = json!({ "source": source }).to_string();
                let function = json!({ "name": TOOL, "arguments": arguments });
                json!({ "id": id(index), "type": "function", "function": function })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            vec![json!({ "role": "assistant", "content": null, "tool_calls": calls })]
        }
        ConversationTurn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &crate::conversation::ToolResult)| {
                let content = content(&outcome.parts);
                json!({ "role": "tool", "tool_call_id": id(index), "content": content })
            };
            outcomes.iter().enumerate().map(result).collect()
        }
    }
}

/// The content of a message: a string if it is only text, since not every server takes a list.
fn content(parts: &[ConversationPart]) -> Value {
    if let [ConversationPart::Text(text)] = parts {
        return text.as_str().into();
    }
    let part = |part: &ConversationPart| match part {
        ConversationPart::Text(text) => json!({ "type": "text", "text": text }),
        ConversationPart::Picture(file) => {
            json!({ "type": "image_url", "image_url": { "url": data_url(file) } })
        }
        ConversationPart::Address(address) => {
            json!({ "type": "image_url", "image_url": { "url": address } })
        }
    };
    parts.iter().map(part).collect()
}
