//! A session as the body of a request, on each wire.

use photic::Wire;
use photic_testkit::image;
use serde_json::{Value, json};

use super::{Sender, Session};

/// A picture that no other is like: a header, a number, and some weight. Nothing here decodes it.
fn picture(session: &Session, number: usize) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&session.size.0.to_be_bytes());
    bytes.extend_from_slice(&session.size.1.to_be_bytes());
    bytes.extend_from_slice(&[8, 2, 0, 0, 0]);
    bytes.extend_from_slice(format!("{number:0>width$}", width = session.weight).as_bytes());
    image::base64(&bytes)
}

/// The request that ends turn `turns` of a session.
pub(super) fn body(session: &Session, turns: usize) -> Vec<u8> {
    let mut messages: Vec<Value> = Vec::new();
    if session.sender == Sender::Tool {
        messages.push(user(session.wire, "Do the task.", &[]));
    }
    let mut number = 0;
    for (turn, &count) in session.pictures[..turns].iter().enumerate() {
        let pictures: Vec<String> = (number..number + count).map(|n| picture(session, n)).collect();
        number += count;
        match session.sender {
            Sender::Tool => messages.extend(step(session.wire, turn, &pictures)),
            Sender::Person => {
                if turn > 0 {
                    messages.push(assistant(session.wire, turn));
                }
                messages.push(user(session.wire, "And this?", &pictures));
            }
        }
    }
    let body = match session.wire {
        Wire::OpenAiResponses => json!({"model": "m", "input": messages}),
        Wire::Gemini => json!({"contents": messages}),
        Wire::Anthropic => json!({"model": "m", "max_tokens": 9, "messages": messages}),
        Wire::BedrockConverse => json!({"messages": messages, "toolConfig": {"tools": [
            {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}},
        ]}}),
        Wire::OpenAiChat | Wire::Ollama => json!({"model": "m", "messages": messages}),
        _ => unreachable!("only the six wires are tested here"),
    };
    serde_json::to_vec(&body).unwrap()
}

/// The key of the list of messages.
pub(super) fn list(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAiResponses => "input",
        Wire::Gemini => "contents",
        Wire::OpenAiChat | Wire::Anthropic | Wire::BedrockConverse | Wire::Ollama => "messages",
        _ => unreachable!("only the six wires are tested here"),
    }
}

fn said(turn: usize) -> String {
    format!("Step {turn}: I look at the page and decide. {}", "lorem ipsum dolor ".repeat(12))
}

fn parts(wire: Wire, text: &str, pictures: &[String]) -> Vec<Value> {
    let url = |data: &String| format!("data:image/png;base64,{data}");
    let words = match wire {
        Wire::OpenAiResponses => json!({"type": "input_text", "text": text}),
        Wire::Gemini | Wire::BedrockConverse => json!({"text": text}),
        Wire::OpenAiChat | Wire::Anthropic | Wire::Ollama => json!({"type": "text", "text": text}),
        _ => unreachable!("only the six wires are tested here"),
    };
    let picture = |data: &String| match wire {
        Wire::OpenAiChat => json!({"type": "image_url", "image_url": {"url": url(data)}}),
        Wire::OpenAiResponses => json!({"type": "input_image", "image_url": url(data)}),
        Wire::Gemini => json!({"inlineData": {"mimeType": "image/png", "data": data}}),
        Wire::BedrockConverse => json!({"image": {"format": "png", "source": {"bytes": data}}}),
        Wire::Anthropic | Wire::Ollama => json!({"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": data,
        }}),
        _ => unreachable!("only the six wires are tested here"),
    };
    std::iter::once(words).chain(pictures.iter().map(picture)).collect()
}

fn user(wire: Wire, text: &str, pictures: &[String]) -> Value {
    match wire {
        Wire::Ollama => json!({"role": "user", "content": text, "images": pictures}),
        Wire::Gemini => json!({"role": "user", "parts": parts(wire, text, pictures)}),
        _ => json!({"role": "user", "content": parts(wire, text, pictures)}),
    }
}

fn assistant(wire: Wire, turn: usize) -> Value {
    let text = said(turn);
    match wire {
        Wire::OpenAiResponses => json!({"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": text},
        ]}),
        Wire::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        Wire::BedrockConverse => json!({"role": "assistant", "content": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    }
}

/// A call of the model and its result.
fn step(wire: Wire, turn: usize, pictures: &[String]) -> Vec<Value> {
    let (text, id) = (said(turn), format!("call_{turn}"));
    let content = parts(wire, "done", pictures);
    match wire {
        Wire::OpenAiChat => vec![
            json!({"role": "assistant", "content": text, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}},
            ]}),
            json!({"role": "tool", "tool_call_id": id, "content": content}),
        ],
        Wire::OpenAiResponses => vec![
            assistant(wire, turn),
            json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": content}),
        ],
        Wire::Anthropic => vec![
            json!({"role": "assistant", "content": [
                {"type": "text", "text": text},
                {"type": "tool_use", "id": id, "name": "look", "input": {}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": content},
            ]}),
        ],
        Wire::Gemini => vec![
            json!({"role": "model", "parts": [
                {"text": text},
                {"functionCall": {"id": id, "name": "look", "args": {}}},
            ]}),
            json!({"role": "user", "parts": [{"functionResponse": {
                "id": id, "name": "look", "response": {"output": "done"}, "parts": content[1..],
            }}]}),
        ],
        Wire::BedrockConverse => vec![
            json!({"role": "assistant", "content": [
                {"text": text},
                {"toolUse": {"toolUseId": id, "name": "look", "input": {}}},
            ]}),
            json!({"role": "user", "content": [
                {"toolResult": {"toolUseId": id, "content": content}},
            ]}),
        ],
        Wire::Ollama => vec![
            json!({"role": "assistant", "content": text, "tool_calls": [
                {"id": id, "function": {"name": "look", "arguments": {}}},
            ]}),
            json!({"role": "tool", "tool_name": "look", "tool_call_id": id, "content": "done",
                "images": pictures}),
        ],
        _ => unreachable!("only the six wires are tested here"),
    }
}
