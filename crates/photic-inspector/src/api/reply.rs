//! The words and calls of a recorded reply, whether it was streamed or not.

use serde_json::{Value, json};

use super::spans::cut;

/// Longest text of a part, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// Events whose `delta` is a piece of the arguments of a call.
const CALL_EVENTS: [&str; 2] =
    ["response.function_call_arguments.delta", "response.custom_tool_call_input.delta"];

/// Words and calls in the order of a reply.
#[derive(Debug, Default)]
struct Said {
    text: String,
    calls: Vec<(String, String)>,
}

/// Returns the parts of a reply. Empty if none are recognized.
pub(crate) fn reply_parts(text: &str, is_stream: bool) -> Vec<Value> {
    let mut said = Said::default();
    if is_stream {
        for line in text.lines() {
            let Some(data) = line.strip_prefix("data:") else { continue };
            let Ok(event) = serde_json::from_str::<Value>(data.trim()) else { continue };
            // The last events of some streams repeat the whole.
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            if CALL_EVENTS.contains(&kind) {
                let more = event.get("delta").and_then(Value::as_str).unwrap_or_default();
                if let Some((_, arguments)) = said.calls.last_mut() {
                    arguments.push_str(more);
                }
                continue;
            }
            let last = kind.rsplit('.').next();
            if !matches!(last, Some("done" | "completed")) || !kind.contains('.') {
                said.read(&event);
            }
        }
    } else if let Ok(reply) = serde_json::from_str::<Value>(text) {
        said.read(&reply);
    }
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        let (text, more) = cut(&said.text, MAX_TEXT);
        parts.push(match more {
            Some(more) => json!({"kind": "text", "text": text, "more": more}),
            None => json!({"kind": "text", "text": text}),
        });
    }
    for (name, arguments) in said.calls {
        let (arguments, _) = cut(&arguments, MAX_TEXT);
        parts.push(json!({"kind": "call", "name": name, "arguments": arguments}));
    }
    parts
}

impl Said {
    fn read(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::Object(members) => {
                let arguments = ["input", "arguments", "args"];
                let given = arguments.iter().find_map(|name| members.get(*name));
                if let (Some(Value::String(name)), Some(given)) = (members.get("name"), given) {
                    let given = match given {
                        Value::String(text) => text.clone(),
                        // A stream fills it in later.
                        Value::Object(members) if members.is_empty() => String::new(),
                        other => other.to_string(),
                    };
                    self.calls.push((name.clone(), given));
                    return;
                }
                for (name, member) in members {
                    match (name.as_str(), member) {
                        ("text" | "content" | "delta", Value::String(text)) => {
                            self.text.push_str(text);
                        }
                        ("partial_json" | "arguments", Value::String(text)) => {
                            if let Some((_, arguments)) = self.calls.last_mut() {
                                arguments.push_str(text);
                            }
                        }
                        ("usage" | "error", _) => {}
                        (_, member) => self.read(member),
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_several_wires_are_read() {
        let chat = r#"{"choices":[{"message":{"role":"assistant","content":"Hi",
            "tool_calls":[{"function":{"name":"click","arguments":"{\"x\":1}"}}]}}]}"#;
        let parts = reply_parts(chat, false);
        assert_eq!(parts[0]["text"], "Hi");
        assert_eq!(
            (&parts[1]["name"], &parts[1]["arguments"]),
            (&json!("click"), &json!("{\"x\":1}"))
        );
        let stream = "event: a\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"He\"}}\n\n\
            data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"llo\"}}\n\
            data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"name\":\"look\",\"input\":{}}}\n\
            data: {\"delta\":{\"partial_json\":\"{\\\"a\\\":1}\"}}\ndata: [DONE]\n";
        let parts = reply_parts(stream, true);
        assert_eq!(parts[0]["text"], "Hello");
        assert_eq!(parts[1]["arguments"], "{\"a\":1}");
        let responses = "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"name\":\"look\",\"arguments\":\"\"}}\n\
            data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\\\"a\\\":1}\"}\n\
            data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n";
        let parts = reply_parts(responses, true);
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (&parts[0]["text"], &parts[1]["arguments"]),
            (&json!("Hi"), &json!("{\"a\":1}"))
        );
        assert!(reply_parts("<html>", false).is_empty());
    }
}
