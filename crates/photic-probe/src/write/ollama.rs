//! Ollama's own `/api/chat`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{has_calls, schema};
use crate::conversation::{Outcome, Part, TOOL, TOOL_SAYS, Turn};

pub(super) fn body(model: &str, turns: &[Turn]) -> Value {
    // Unless told otherwise, it streams.
    let mut body = json!({ "model": model, "stream": false });
    if has_calls(turns) {
        let function = json!({ "name": TOOL, "description": TOOL_SAYS, "parameters": schema() });
        body["tools"] = json!([{ "type": "function", "function": function }]);
    }
    body["messages"] = turns.iter().flat_map(messages).collect();
    body
}

fn messages(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::System(parts) => vec![message("system", parts)],
        Turn::User(parts) => vec![message("user", parts)],
        Turn::Assistant(text) => vec![json!({ "role": "assistant", "content": text })],
        Turn::Calls(sources) => {
            let call = |source: &&str| json!({ "function": { "name": TOOL, "arguments": { "source": source } } });
            let calls: Vec<Value> = sources.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": "", "tool_calls": calls })]
        }
        Turn::Results(outcomes) => {
            let result = |outcome: &Outcome| {
                let mut result = message("tool", &outcome.parts);
                result["tool_name"] = TOOL.into();
                result
            };
            outcomes.iter().map(result).collect()
        }
    }
}

/// Words in one string, pictures beside it, without their types.
fn message(role: &str, parts: &[Part]) -> Value {
    let (mut words, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => words.push(text.as_str()),
            Part::Picture(file) => images.push(STANDARD.encode(&file.bytes)),
            // There is no place for one; as an image it is refused, as it should be.
            Part::Address(address) => images.push(address.clone()),
        }
    }
    let mut message = json!({ "role": role, "content": words.join("\n") });
    if !images.is_empty() {
        message["images"] = images.into();
    }
    message
}
