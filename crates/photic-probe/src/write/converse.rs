//! `Converse`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{has_calls, id, schema};
use crate::conversation::{Outcome, Part, TOOL, TOOL_SAYS, Turn};

/// The model is named by the address.
pub(super) fn body(turns: &[Turn]) -> Value {
    let mut body = json!({});
    if has_calls(turns) {
        let input = json!({ "json": schema() });
        let spec = json!({ "name": TOOL, "description": TOOL_SAYS, "inputSchema": input });
        body["toolConfig"] = json!({ "tools": [{ "toolSpec": spec }] });
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
        Turn::Assistant(text) => {
            Some(json!({ "role": "assistant", "content": [{ "text": text }] }))
        }
        Turn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let input = json!({ "source": source });
                json!({ "toolUse": { "toolUseId": id(index), "name": TOOL, "input": input } })
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            Some(json!({ "role": "assistant", "content": calls }))
        }
        Turn::Results(outcomes) => {
            let result = |(index, outcome): (usize, &Outcome)| {
                let status = if outcome.failed { "error" } else { "success" };
                let content = content(&outcome.parts);
                json!({ "toolResult": { "toolUseId": id(index), "content": content, "status": status } })
            };
            let results: Vec<Value> = outcomes.iter().enumerate().map(result).collect();
            Some(json!({ "role": "user", "content": results }))
        }
    }
}

fn content(parts: &[Part]) -> Value {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Picture(file) => {
            let format = file.media_type.strip_prefix("image/").unwrap_or(file.media_type);
            let data = STANDARD.encode(&file.bytes);
            json!({ "image": { "format": format, "source": { "bytes": data } } })
        }
        // Addresses are those of S3 only: the wire is to say so itself.
        Part::Address(address) => {
            json!({ "image": { "format": "png", "source": { "s3Location": { "uri": address } } } })
        }
    };
    parts.iter().map(part).collect()
}
