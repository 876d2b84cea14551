//! `generateContent`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{has_calls, schema};
use crate::conversation::{Outcome, Part, TOOL, TOOL_SAYS, Turn};

/// The model is named by the address.
pub(super) fn body(turns: &[Turn]) -> Value {
    let mut body = json!({});
    if has_calls(turns) {
        let function = json!({ "name": TOOL, "description": TOOL_SAYS, "parameters": schema() });
        body["tools"] = json!([{ "functionDeclarations": [function] }]);
    }
    if let Some(Turn::System(parts)) = turns.first() {
        body["systemInstruction"] = json!({ "parts": content(parts) });
    }
    body["contents"] = turns.iter().filter_map(message).collect();
    body
}

fn message(turn: &Turn) -> Option<Value> {
    match turn {
        Turn::System(_) => None,
        Turn::User(parts) => Some(json!({ "role": "user", "parts": content(parts) })),
        Turn::Assistant(text) => Some(json!({ "role": "model", "parts": [{ "text": text }] })),
        Turn::Calls(sources) => {
            let call = |source: &&str| json!({ "functionCall": { "name": TOOL, "args": { "source": source } } });
            let calls: Vec<Value> = sources.iter().map(call).collect();
            Some(json!({ "role": "model", "parts": calls }))
        }
        Turn::Results(outcomes) => {
            let results: Vec<Value> = outcomes.iter().map(result).collect();
            Some(json!({ "role": "user", "parts": results }))
        }
    }
}

/// Words are the response, pictures stand beside it.
fn result(outcome: &Outcome) -> Value {
    let is_text = |part: &&Part| matches!(part, Part::Text(_));
    let words = outcome.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Picture(_) | Part::Address(_) => None,
    });
    let words = words.collect::<Vec<_>>().join("\n");
    let response =
        if outcome.failed { json!({ "error": words }) } else { json!({ "output": words }) };
    let mut answer = json!({ "name": TOOL, "response": response });
    let pictures: Vec<Value> =
        outcome.parts.iter().filter(|part| !is_text(part)).map(part).collect();
    if !pictures.is_empty() {
        answer["parts"] = pictures.into();
    }
    json!({ "functionResponse": answer })
}

fn content(parts: &[Part]) -> Value {
    parts.iter().map(part).collect()
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Picture(file) => {
            let data = STANDARD.encode(&file.bytes);
            json!({ "inlineData": { "mimeType": file.media_type, "data": data } })
        }
        Part::Address(address) => json!({ "fileData": { "fileUri": address } }),
    }
}
