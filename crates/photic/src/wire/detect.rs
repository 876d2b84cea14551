//! Which wire a body speaks, from what it says.

use super::Wire;
use crate::json::{Doc, Kind, Value};

/// The wire a request body most likely speaks; `None` if it is no request of any.
pub fn detect(body: &[u8]) -> Option<Wire> {
    let doc = Doc::parse(body).ok()?;
    let root = doc.root()?;
    if root.get("input").is_some() || root.get("previous_response_id").is_some() {
        return Some(Wire::OpenAiResponses);
    }
    if root.get("contents").is_some_and(|list| list.kind() == Kind::Array) {
        return Some(Wire::Gemini);
    }
    let messages = root.get("messages").filter(|list| list.kind() == Kind::Array)?;
    let is_converse = root.get("inferenceConfig").is_some()
        || root.get("toolConfig").is_some()
        || messages.items().any(has_converse_blocks);
    if is_converse {
        return Some(Wire::Converse);
    }
    let is_ollama = ["options", "keep_alive", "think"].iter().any(|name| root.get(name).is_some())
        || messages
            .items()
            .any(|message| has_bare_images(message) || message.get("tool_name").is_some());
    if is_ollama {
        return Some(Wire::Ollama);
    }
    let is_chat = messages.items().any(|message| {
        message.get("tool_calls").is_some()
            || message.get("role").is_some_and(|role| role.is("tool") || role.is("developer"))
            || blocks(message)
                .any(|part| part.get("image_url").is_some() || part.get("file").is_some())
    });
    if is_chat {
        return Some(Wire::OpenAiChat);
    }
    // Servers of the other wire take some of these fields too, so they come second.
    let is_anthropic = messages.items().any(has_anthropic_blocks)
        || ["system", "anthropic_version", "stop_sequences", "thinking"]
            .iter()
            .any(|name| root.get(name).is_some())
        || root
            .get("tools")
            .is_some_and(|tools| tools.items().any(|tool| tool.get("input_schema").is_some()));
    // A plain text conversation looks the same on both; the model's name is the best hint left.
    let named_claude = || {
        let model = root.get("model").and_then(|model| model.str()).map(|model| model.decode());
        let system = messages
            .items()
            .any(|message| message.get("role").is_some_and(|role| role.is("system")));
        model.is_some_and(|model| model.contains("claude"))
            && root.get("max_tokens").is_some()
            && !system
    };
    Some(if is_anthropic || named_claude() { Wire::Anthropic } else { Wire::OpenAiChat })
}

impl Wire {
    /// Whether a request body could be one of this wire. Only what plainly belongs to another wire
    /// counts against it: readers are lenient, and so are many servers.
    pub(crate) fn fits(self, root: Value<'_, '_>) -> bool {
        let has_list = |name: &str| root.get(name).is_some_and(Value::is_list);
        match self {
            Self::OpenAiResponses => {
                root.get("input").is_some() || !(has_list("messages") || has_list("contents"))
            }
            Self::Gemini => {
                has_list("contents") || !(has_list("messages") || root.get("input").is_some())
            }
            Self::OpenAiChat | Self::Ollama | Self::Anthropic | Self::Converse => {
                let Some(messages) = root.get("messages").filter(|list| list.is_list()) else {
                    return !(has_list("contents") || has_list("input"));
                };
                let nests = matches!(self, Self::Anthropic | Self::Converse);
                !messages.items().any(|message| {
                    if nests {
                        message.get("tool_calls").is_some()
                            || message.get("role").is_some_and(|role| role.is("tool"))
                    } else {
                        blocks(message).any(|block| {
                            block.get("type").is_some_and(|name| name.is("tool_result"))
                                || block.get("toolResult").is_some()
                        })
                    }
                })
            }
        }
    }
}

/// The wire a reply body most likely speaks.
pub fn detect_reply(body: &[u8]) -> Option<Wire> {
    let doc = Doc::parse(body).ok()?;
    let root = doc.root()?;
    if root.get("choices").is_some() {
        Some(Wire::OpenAiChat)
    } else if root.get("candidates").is_some() || root.get("promptFeedback").is_some() {
        Some(Wire::Gemini)
    } else if root.get("stopReason").is_some() {
        Some(Wire::Converse)
    } else if root.get("output").is_some() {
        Some(Wire::OpenAiResponses)
    } else if root.get("done").is_some() && root.get("message").is_some() {
        Some(Wire::Ollama)
    } else if root.get("type").is_some_and(|name| name.is("message") || name.is("error")) {
        Some(Wire::Anthropic)
    } else {
        root.get("error").map(|_| Wire::OpenAiChat)
    }
}

/// Blocks of that wire have no `type`: their only member names them.
/// Whether a message lists images as bare base64. Routers list parts under the same name.
fn has_bare_images(message: Value<'_, '_>) -> bool {
    let mut images = message.get("images").into_iter().flat_map(Value::items);
    images.any(|image| image.kind() == Kind::String)
}

fn has_converse_blocks(message: Value<'_, '_>) -> bool {
    const NAMES: [&str; 6] = ["text", "image", "document", "toolUse", "toolResult", "video"];
    blocks(message).any(|block| {
        block.get("type").is_none() && NAMES.iter().any(|name| block.get(name).is_some())
    })
}

fn has_anthropic_blocks(message: Value<'_, '_>) -> bool {
    blocks(message).any(|block| {
        block.get("source").is_some()
            || block.get("type").is_some_and(|name| {
                name.is("tool_use")
                    || name.is("tool_result")
                    || name.is("thinking")
                    || name.is("redacted_thinking")
            })
    })
}

fn blocks<'d, 'a>(message: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    message.get("content").into_iter().flat_map(Value::items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_a_message_are_bare_on_ollama_and_parts_elsewhere() {
        let bare = br#"{"messages":[{"role":"user","content":"?","images":["iVBORw0KGgo"]}]}"#;
        assert_eq!(detect(bare), Some(Wire::Ollama));
        let parts = br#"{"messages":[{"role":"user","content":"?"},{"role":"assistant",
            "content":"","images":[{"type":"image_url","image_url":{"url":"data:"}}]}]}"#;
        assert_eq!(detect(parts), Some(Wire::OpenAiChat));
    }
}
