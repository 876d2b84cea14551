//! Minimal requests and replies of each wire.

use hyper::header::HeaderName;
use photic::Wire;
use photic::wire::PathParams;
use serde_json::{Value, json};

/// Position of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PicturePosition {
    /// In a tool result.
    Tool,
    /// In a user message.
    User,
}

/// Transport of a picture.
#[derive(Clone, Debug)]
pub(super) enum SentPicture {
    /// Its bytes in base64.
    Inline(String),
    /// Its reference: `photic:mr_…`.
    Address(String),
}

/// Definition of the called tool.
const CONVERSE_TOOLS: &str = r#""toolConfig":{"tools":[{"toolSpec":{"name":"take","inputSchema":{"json":{"type":"object"}}}}]}"#;

/// Returns a model that sees.
pub(super) const fn model(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "claude-sonnet-5",
        Wire::Gemini => "gemini-3-pro",
        Wire::BedrockConverse => "anthropic.claude-sonnet-5",
        Wire::Ollama => "gemma3",
        _ => "gpt-5.4",
    }
}

pub(super) fn path(wire: Wire) -> String {
    let params = PathParams { model: Some(model(wire).to_owned()), stream: false };
    wire.path(&params).0.into_owned()
}

/// Returns the headers of a provider, with its key.
pub(super) fn headers(wire: Wire, key: &str) -> Vec<(HeaderName, String)> {
    let (name, before) = wire.key_header();
    let mut headers = vec![(HeaderName::from_static(name), format!("{before}{key}"))];
    for (name, value) in wire.http().required_headers {
        headers.push((HeaderName::from_static(name), (*value).to_owned()));
    }
    headers
}

/// Returns a request with this history: messages, separated by commas.
pub(super) fn body(wire: Wire, history: &str) -> String {
    let model = model(wire);
    match wire {
        Wire::OpenAiResponses => {
            format!(r#"{{"model":"{model}","store":false,"input":[{history}]}}"#)
        }
        Wire::Anthropic => {
            format!(r#"{{"model":"{model}","max_tokens":1000,"messages":[{history}]}}"#)
        }
        Wire::Gemini => format!(r#"{{"contents":[{history}]}}"#),
        // Only this wire requires tool definitions for calls in the history.
        Wire::BedrockConverse => format!(r#"{{"messages":[{history}],{CONVERSE_TOOLS}}}"#),
        Wire::Ollama => format!(r#"{{"model":"{model}","stream":false,"messages":[{history}]}}"#),
        _ => format!(r#"{{"model":"{model}","messages":[{history}]}}"#),
    }
}

/// Returns whether tool results of a client can contain pictures.
pub(super) const fn has_tool_pictures(wire: Wire) -> bool {
    matches!(
        wire,
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::BedrockConverse
    )
}

/// Returns the messages that a turn adds to the history.
pub(super) fn step(
    wire: Wire,
    place: PicturePosition,
    turn: u32,
    ask: &str,
    sent: Option<&SentPicture>,
) -> String {
    let messages = match place {
        PicturePosition::User => vec![attached(wire, ask, sent)],
        PicturePosition::Tool => returned(wire, turn, ask, sent),
    };
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    texts.join(",")
}

/// Returns the message of the model for the next request.
pub(super) fn said(wire: Wire, text: &str) -> String {
    let message = match wire {
        Wire::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        Wire::BedrockConverse => json!({"role": "assistant", "content": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    };
    message.to_string()
}

/// Returns the text of a reply.
pub(super) fn words(wire: Wire, reply: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let at = match wire {
        Wire::OpenAiResponses => "/output/0/content/0/text",
        Wire::Anthropic => "/content/0/text",
        Wire::Gemini => "/candidates/0/content/parts/0/text",
        Wire::BedrockConverse => "/output/message/content/0/text",
        Wire::Ollama => "/message/content",
        _ => "/choices/0/message/content",
    };
    reply.pointer(at)?.as_str().map(str::to_owned)
}

/// Returns a user message, with or without a picture.
fn attached(wire: Wire, ask: &str, sent: Option<&SentPicture>) -> Value {
    let text = text(wire, ask);
    let parts: Vec<Value> =
        [Some(text), sent.map(|sent| image(wire, sent))].into_iter().flatten().collect();
    match (wire, sent) {
        (Wire::Gemini, _) => json!({"role": "user", "parts": parts}),
        (Wire::Ollama, None) => json!({"role": "user", "content": ask}),
        (Wire::Ollama, Some(sent)) => {
            json!({"role": "user", "content": ask, "images": [image(wire, sent)]})
        }
        _ => json!({"role": "user", "content": parts}),
    }
}

/// Returns a tool call and its result.
fn returned(wire: Wire, turn: u32, ask: &str, sent: Option<&SentPicture>) -> Vec<Value> {
    let id = format!("call_{turn}");
    let ask = attached(wire, ask, None);
    let mut parts = vec![text(wire, "done")];
    parts.extend(sent.map(|sent| image(wire, sent)));
    match wire {
        Wire::OpenAiChat => {
            let function = json!({"name": "take", "arguments": "{}"});
            let call = json!({"id": id, "type": "function", "function": function});
            vec![
                ask,
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": id, "content": parts}),
            ]
        }
        Wire::OpenAiResponses => vec![
            ask,
            json!({"type": "function_call", "call_id": id, "name": "take", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": parts}),
        ],
        Wire::Anthropic => {
            let call = json!({"type": "tool_use", "id": id, "name": "take", "input": {}});
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": parts});
            vec![
                ask,
                json!({"role": "assistant", "content": [call]}),
                json!({"role": "user", "content": [result]}),
            ]
        }
        Wire::BedrockConverse => {
            let call = json!({"toolUse": {"toolUseId": id, "name": "take", "input": {}}});
            let result = json!({"toolResult": {"toolUseId": id, "content": parts}});
            vec![
                ask,
                json!({"role": "assistant", "content": [call]}),
                json!({"role": "user", "content": [result]}),
            ]
        }
        // Unused: `has_tool_pictures` returns false.
        _ => vec![ask],
    }
}

fn text(wire: Wire, text: &str) -> Value {
    match wire {
        Wire::OpenAiResponses => json!({"type": "input_text", "text": text}),
        Wire::Gemini | Wire::BedrockConverse => json!({"text": text}),
        Wire::Ollama => json!(text),
        _ => json!({"type": "text", "text": text}),
    }
}

fn image(wire: Wire, sent: &SentPicture) -> Value {
    let url = match sent {
        SentPicture::Inline(base64) => format!("data:image/png;base64,{base64}"),
        SentPicture::Address(address) => address.clone(),
    };
    match (wire, sent) {
        (Wire::OpenAiResponses, _) => json!({"type": "input_image", "image_url": url}),
        (Wire::Anthropic, SentPicture::Inline(data)) => {
            let source = json!({"type": "base64", "media_type": "image/png", "data": data});
            json!({"type": "image", "source": source})
        }
        (Wire::Anthropic, SentPicture::Address(url)) => {
            json!({"type": "image", "source": {"type": "url", "url": url}})
        }
        (Wire::Gemini, SentPicture::Inline(data)) => {
            json!({"inlineData": {"mimeType": "image/png", "data": data}})
        }
        (Wire::Gemini, SentPicture::Address(url)) => {
            json!({"fileData": {"mimeType": "image/png", "fileUri": url}})
        }
        // This wire has no URLs: the reference takes the place of the data.
        (Wire::BedrockConverse, SentPicture::Inline(data) | SentPicture::Address(data)) => {
            json!({"image": {"format": "png", "source": {"bytes": data}}})
        }
        (Wire::Ollama, SentPicture::Inline(data) | SentPicture::Address(data)) => json!(data),
        _ => json!({"type": "image_url", "image_url": {"url": url}}),
    }
}
