//! Responses.

use serde_json::{Value, json};

use super::{data_url, has_calls, id, schema};
use crate::conversation::{Outcome, Part, TOOL, TOOL_SAYS, Turn};

pub(super) fn body(model: &str, turns: &[Turn]) -> Value {
    let mut body = json!({ "model": model });
    // Nothing of a probe is to be kept.
    body["store"] = false.into();
    if has_calls(turns) {
        let tool = json!({
            "type": "function",
            "name": TOOL,
            "description": TOOL_SAYS,
            "parameters": schema(),
            "strict": false,
        });
        body["tools"] = json!([tool]);
    }
    body["input"] = turns.iter().flat_map(items).collect();
    body
}

fn items(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::System(parts) => vec![json!({ "role": "system", "content": content(parts) })],
        Turn::User(parts) => vec![json!({ "role": "user", "content": content(parts) })],
        // In full: the llama.cpp server does not take the short form.
        Turn::Assistant(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            vec![json!({ "type": "message", "role": "assistant", "content": content })]
        }
        Turn::Calls(sources) => {
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
        Turn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &Outcome)| {
                let output = match outcome.parts.as_slice() {
                    [Part::Text(text)] => text.as_str().into(),
                    parts => content(parts),
                };
                json!({ "type": "function_call_output", "call_id": id(index), "output": output })
            };
            outcomes.iter().enumerate().map(result).collect()
        }
    }
}

fn content(parts: &[Part]) -> Value {
    let image = |url: &str| json!({ "type": "input_image", "image_url": url, "detail": "auto" });
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Picture(file) => image(&data_url(file)),
        Part::Address(address) => image(address),
    };
    parts.iter().map(part).collect()
}
