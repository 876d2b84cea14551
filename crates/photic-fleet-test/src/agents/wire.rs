//! What clients of each wire write and read: as little of it as a conversation needs.

use hyper::header::HeaderName;
use photic::Wire;
use photic::wire::PathParams;
use serde_json::{Value, json};

/// Where a picture stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A tool returned it.
    Tool,
    /// A person attached it.
    User,
}

/// How a picture is sent.
#[derive(Clone, Debug)]
pub(super) enum Sent {
    /// Its bytes, in base64.
    Inline(String),
    /// Where it was uploaded to: `photic:mr_…`.
    Address(String),
}

/// A tool that calls may be of.
const CONVERSE_TOOLS: &str = r#""toolConfig":{"tools":[{"toolSpec":{"name":"take","inputSchema":{"json":{"type":"object"}}}}]}"#;

/// A model that sees.
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

/// The headers that a provider wants, with its key.
pub(super) fn headers(wire: Wire, key: &str) -> Vec<(HeaderName, String)> {
    let (name, before) = wire.key_header();
    let mut headers = vec![(HeaderName::from_static(name), format!("{before}{key}"))];
    for (name, value) in wire.http().required_headers {
        headers.push((HeaderName::from_static(name), (*value).to_owned()));
    }
    headers
}

/// A request that holds this history: messages, with commas between them.
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
        // There alone, calls in the history want to be explained.
        Wire::BedrockConverse => format!(r#"{{"messages":[{history}],{CONVERSE_TOOLS}}}"#),
        Wire::Ollama => format!(r#"{{"model":"{model}","stream":false,"messages":[{history}]}}"#),
        _ => format!(r#"{{"model":"{model}","messages":[{history}]}}"#),
    }
}

/// Whether results of tools can hold pictures when a client writes them.
pub(super) const fn has_tool_pictures(wire: Wire) -> bool {
    matches!(
        wire,
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::BedrockConverse
    )
}

/// What a turn adds to the history before it is sent.
pub(super) fn step(wire: Wire, place: Place, turn: u32, ask: &str, sent: Option<&Sent>) -> String {
    let messages = match place {
        Place::User => vec![attached(wire, ask, sent)],
        Place::Tool => returned(wire, turn, ask, sent),
    };
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    texts.join(",")
}

/// What the model said, as the next request repeats it.
pub(super) fn said(wire: Wire, text: &str) -> String {
    let message = match wire {
        Wire::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        Wire::BedrockConverse => json!({"role": "assistant", "content": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    };
    message.to_string()
}

/// The words of a reply.
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

/// A message of a person, with a picture or without.
fn attached(wire: Wire, ask: &str, sent: Option<&Sent>) -> Value {
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

/// A call of a tool and what it returned.
fn returned(wire: Wire, turn: u32, ask: &str, sent: Option<&Sent>) -> Vec<Value> {
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
        // Not asked for: `has_tool_pictures` says no.
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

fn image(wire: Wire, sent: &Sent) -> Value {
    let url = match sent {
        Sent::Inline(base64) => format!("data:image/png;base64,{base64}"),
        Sent::Address(address) => address.clone(),
    };
    match (wire, sent) {
        (Wire::OpenAiResponses, _) => json!({"type": "input_image", "image_url": url}),
        (Wire::Anthropic, Sent::Inline(data)) => {
            let source = json!({"type": "base64", "media_type": "image/png", "data": data});
            json!({"type": "image", "source": source})
        }
        (Wire::Anthropic, Sent::Address(url)) => {
            json!({"type": "image", "source": {"type": "url", "url": url}})
        }
        (Wire::Gemini, Sent::Inline(data)) => {
            json!({"inlineData": {"mimeType": "image/png", "data": data}})
        }
        (Wire::Gemini, Sent::Address(url)) => {
            json!({"fileData": {"mimeType": "image/png", "fileUri": url}})
        }
        // No addresses there: it stands where the data would.
        (Wire::BedrockConverse, Sent::Inline(data) | Sent::Address(data)) => {
            json!({"image": {"format": "png", "source": {"bytes": data}}})
        }
        (Wire::Ollama, Sent::Inline(data) | Sent::Address(data)) => json!(data),
        _ => json!({"type": "image_url", "image_url": {"url": url}}),
    }
}
