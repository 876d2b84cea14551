//! Requests of every wire, the same three ways: words, an image of the user, an image of a tool.

use photic_mock::Chart;
use photic_testkit::image::{base64, data_url};
use serde_json::{Value, json};

/// A wire under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Messages,
}

pub(crate) const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

impl Wire {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// The name under which the oracle knows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Messages => "anthropic",
        }
    }

    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "gpt-5.4",
            Self::Messages => "claude-sonnet-5",
        }
    }

    /// A request that holds these messages or items.
    pub(crate) fn request(self, list: Vec<Value>) -> Value {
        match self {
            Self::Chat => json!({"model": self.model(), "messages": list}),
            Self::Responses => json!({"model": self.model(), "input": list}),
            Self::Messages => {
                json!({"model": self.model(), "max_tokens": 100, "messages": list})
            }
        }
    }

    pub(crate) fn text(self, text: &str) -> Value {
        let kind = if self == Self::Responses { "input_text" } else { "text" };
        json!({"type": kind, "text": text})
    }

    pub(crate) fn image(self, media_type: &str, bytes: &[u8]) -> Value {
        let url = data_url(media_type, bytes);
        match self {
            Self::Chat => json!({"type": "image_url", "image_url": {"url": url}}),
            Self::Responses => json!({"type": "input_image", "image_url": url, "detail": "auto"}),
            Self::Messages => {
                let data = base64(bytes);
                let source = json!({"type": "base64", "media_type": media_type, "data": data});
                json!({"type": "image", "source": source})
            }
        }
    }

    /// A question with these images.
    pub(crate) fn shows(self, images: &[(&str, Vec<u8>)]) -> Value {
        let mut parts: Vec<Value> =
            images.iter().map(|(kind, bytes)| self.image(kind, bytes)).collect();
        parts.push(self.text("What is in these pictures?"));
        self.request(vec![user(parts)])
    }

    /// A call of a tool and its result, which is a list of parts.
    pub(crate) fn used_tool(self, parts: Vec<Value>) -> Vec<Value> {
        let ask = user(vec![self.text("Please look.")]);
        match self {
            Self::Chat => {
                let function = json!({"name": "look", "arguments": "{}"});
                let call = json!({"id": "c1", "type": "function", "function": function});
                vec![
                    ask,
                    json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                    json!({"role": "tool", "tool_call_id": "c1", "content": parts}),
                ]
            }
            Self::Responses => vec![
                ask,
                json!({"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": "c1", "output": parts}),
            ],
            Self::Messages => {
                let call = json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}});
                let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": parts});
                vec![
                    ask,
                    json!({"role": "assistant", "content": [call]}),
                    json!({"role": "user", "content": [result]}),
                ]
            }
        }
    }

    /// The tool that can show something.
    pub(crate) fn tool(self, name: &str) -> Value {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        match self {
            Self::Chat => {
                json!({"type": "function", "function": {"name": name, "parameters": schema}})
            }
            Self::Responses => json!({"type": "function", "name": name, "parameters": schema}),
            Self::Messages => json!({"name": name, "input_schema": schema}),
        }
    }
}

/// A message of the user.
pub(crate) fn user(parts: Vec<Value>) -> Value {
    json!({"role": "user", "content": parts})
}

/// A chart as a PNG.
pub(crate) fn chart(seed: u64) -> (&'static str, Vec<u8>) {
    ("image/png", Chart::of(seed).png().unwrap())
}

pub(crate) fn words(seed: u64) -> String {
    Chart::of(seed).words()
}
