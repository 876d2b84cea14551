//! Messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{has_calls, id, schema};
use crate::conversation::{Outcome, Part, TOOL, TOOL_SAYS, Turn};

/// Room for an answer, and for thinking before it.
const MOST: u32 = 2048;

pub(super) fn body(model: &str, turns: &[Turn]) -> Value {
    let mut body = json!({ "model": model, "max_tokens": MOST });
    if has_calls(turns) {
        body["tools"] =
            json!([{ "name": TOOL, "description": TOOL_SAYS, "input_schema": schema() }]);
    }
    if let Some(Turn::System(parts)) = turns.first() {
        body["system"] = content(parts);
    }
    body["messages"] = turns.iter().filter_map(message).collect();
    body
}

fn message(turn: &Turn) -> Option<Value> {
    match turn {
        Turn::System(_) => None,
        Turn::User(parts) => Some(json!({ "role": "user", "content": content(parts) })),
        Turn::Assistant(text) => Some(json!({ "role": "assistant", "content": text })),
        Turn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let input = json!({ "source": source });
                json!({ "type": "tool_use", "id": id(index), "name": TOOL, "input": input })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            Some(json!({ "role": "assistant", "content": calls }))
        }
        Turn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &Outcome)| {
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

fn content(parts: &[Part]) -> Value {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture(file) => {
            let data = STANDARD.encode(&file.bytes);
            let source = json!({ "type": "base64", "media_type": file.media_type, "data": data });
            json!({ "type": "image", "source": source })
        }
        Part::Address(address) => {
            json!({ "type": "image", "source": { "type": "url", "url": address } })
        }
    };
    parts.iter().map(part).collect()
}
