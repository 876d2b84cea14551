//! Replies: one good one per wire, and replies that a typed client would reject.

use serde_json::{Value, json};

use crate::oracle::{Usage, reply};

fn read(wire: &str, body: &Value) -> crate::oracle::Reply {
    reply(wire, body.to_string().as_bytes()).unwrap()
}

fn first(wire: &str, body: &Value) -> &'static str {
    reply(wire, body.to_string().as_bytes()).unwrap_err()[0].code
}

#[test]
fn chat() {
    let mut body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "hi",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "prompt_tokens_details": {"cached_tokens": 2}}});
    let seen = read("openai-chat", &body);
    assert_eq!(
        (seen.texts.as_slice(), seen.stop.as_deref()),
        (&["hi".to_owned()][..], Some("tool_calls"))
    );
    assert_eq!((seen.calls[0].id.as_str(), seen.calls[0].name.as_str()), ("c", "f"));
    assert_eq!(seen.usage, Some(Usage { input: 3, output: 4, cached: 2 }));
    body["choices"][0]["finish_reason"] = "bored".into();
    assert_eq!(first("openai-chat", &body), "value_unknown");
    body["choices"] = json!([]);
    assert_eq!(first("openai-chat", &body), "field_missing");
    assert_eq!(first("openai-chat", &json!({"error": {"message": "no"}})), "field_missing");
}

#[test]
fn response() {
    let mut body = json!({"id": "x", "object": "response", "created_at": 1, "model": "m", "status": "completed",
        "output": [{"type": "reasoning"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
        "usage": {"input_tokens": 3, "output_tokens": 4}});
    let seen = read("openai-responses", &body);
    assert_eq!(
        (seen.texts.len(), seen.calls.len(), seen.stop.as_deref()),
        (1, 1, Some("completed"))
    );
    body["output"][1]["content"][0] = json!({"type": "output_text"});
    assert_eq!(first("openai-responses", &body), "field_missing");
    body["object"] = "list".into();
    assert_eq!(first("openai-responses", &body), "value_unknown");
}

#[test]
fn message() {
    let mut body = json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}],
        "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 1}});
    let seen = read("anthropic", &body);
    assert_eq!(seen.calls[0].arguments, r#"{"a":1}"#);
    assert_eq!(seen.usage, Some(Usage { input: 3, output: 4, cached: 1 }));
    body["usage"] = json!({"input_tokens": "3"});
    assert_eq!(first("anthropic", &body), "field_type");
    body.as_object_mut().unwrap().remove("usage");
    assert_eq!(first("anthropic", &body), "field_missing");
    assert_eq!(first("telex", &body), "unknown_wire");
}
