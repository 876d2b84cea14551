//! Chat Completions.

use serde_json::{Value, json};

use super::{data_url, has_calls, id, schema};
use crate::conversation::{Part, TOOL, TOOL_SAYS, Turn};

pub(super) fn body(model: &str, turns: &[Turn]) -> Value {
    let mut body = json!({ "model": model });
    if has_calls(turns) {
        let function = json!({ "name": TOOL, "description": TOOL_SAYS, "parameters": schema() });
        body["tools"] = json!([{ "type": "function", "function": function }]);
    }
    body["messages"] = turns.iter().flat_map(messages).collect();
    body
}

fn messages(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::System(parts) => vec![json!({ "role": "system", "content": content(parts) })],
        Turn::User(parts) => vec![json!({ "role": "user", "content": content(parts) })],
        Turn::Assistant(text) => vec![json!({ "role": "assistant", "content": text })],
        Turn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let arguments = json!({ "source": source }).to_string();
                let function = json!({ "name": TOOL, "arguments": arguments });
                json!({ "id": id(index), "type": "function", "function": function })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            vec![json!({ "role": "assistant", "content": null, "tool_calls": calls })]
        }
        Turn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &crate::conversation::Outcome)| {
                let content = content(&outcome.parts);
                json!({ "role": "tool", "tool_call_id": id(index), "content": content })
            };
            outcomes.iter().enumerate().map(result).collect()
        }
    }
}

/// A string where there are only words: not every server takes a list of them.
fn content(parts: &[Part]) -> Value {
    if let [Part::Text(text)] = parts {
        return text.as_str().into();
    }
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture(file) => {
            json!({ "type": "image_url", "image_url": { "url": data_url(file) } })
        }
        Part::Address(address) => json!({ "type": "image_url", "image_url": { "url": address } }),
    };
    parts.iter().map(part).collect()
}
