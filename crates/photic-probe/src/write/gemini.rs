//! Bodies of `generateContent`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::tool::{has_calls, schema};
use crate::conversation::{ConversationPart, ConversationTurn, TOOL, TOOL_DESCRIPTION, ToolResult};

/// Replaces the signature of a thought; older models ignore it.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Writes a body. The URL names the model.
pub(super) fn body(turns: &[ConversationTurn]) -> Value {
    let mut body = json!({});
    if has_calls(turns) {
        let function =
            json!({ "name": TOOL, "description": TOOL_DESCRIPTION, "parameters": schema() });
        body["tools"] = json!([{ "functionDeclarations": [function] }]);
    }
    if let Some(ConversationTurn::System(parts)) = turns.first() {
        body["systemInstruction"] = json!({ "parts": content(parts) });
    }
    body["contents"] = turns.iter().filter_map(message).collect();
    body
}

/// The message of a turn.
fn message(turn: &ConversationTurn) -> Option<Value> {
    match turn {
        ConversationTurn::System(_) => None,
        ConversationTurn::User(parts) => Some(json!({ "role": "user", "parts": content(parts) })),
        ConversationTurn::Assistant(text) => {
            Some(json!({ "role": "model", "parts": [{ "text": text }] }))
        }
        ConversationTurn::Calls(sources) => {
            let call = |(index, source): (usize, &&str)| {
                let call = json!({ "name": TOOL, "args": { "source": source } });
                // Of parallel calls, the first carries the signature of a thought.
                if index == 0 {
                    json!({ "functionCall": call, "thoughtSignature": UNSIGNED })
                } else {
                    json!({ "functionCall": call })
                }
            };
            let calls: Vec<Value> = sources.iter().enumerate().map(call).collect();
            Some(json!({ "role": "model", "parts": calls }))
        }
        ConversationTurn::Results(outcomes) => {
            let results: Vec<Value> = outcomes.iter().map(result).collect();
            Some(json!({ "role": "user", "parts": results }))
        }
    }
}

/// A tool result: text is the response, pictures are beside it.
fn result(outcome: &ToolResult) -> Value {
    let is_text = |part: &&ConversationPart| matches!(part, ConversationPart::Text(_));
    let words = outcome.parts.iter().filter_map(|part| match part {
        ConversationPart::Text(text) => Some(text.as_str()),
        ConversationPart::Picture(_) | ConversationPart::Address(_) => None,
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

/// The parts of a message.
fn content(parts: &[ConversationPart]) -> Value {
    parts.iter().map(part).collect()
}

/// One part.
fn part(part: &ConversationPart) -> Value {
    match part {
        ConversationPart::Text(text) => json!({ "text": text }),
        ConversationPart::Picture(file) => {
            let data = STANDARD.encode(&file.bytes);
            json!({ "inlineData": { "mimeType": file.media_type, "data": data } })
        }
        ConversationPart::Address(address) => json!({ "fileData": { "fileUri": address } }),
    }
}
