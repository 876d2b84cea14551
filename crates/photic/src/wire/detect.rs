//! Detects the wire that a body belongs to.

use super::Wire;
use crate::json::{Doc, Kind, Value};

/// Returns the wire a request body most likely belongs to, or `None` if it is not a request.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}"#;
/// assert_eq!(photic::detect(body), Some(Wire::Gemini));
/// ```
pub fn detect(body: &[u8]) -> Option<Wire> {
    most_likely(body, |wire, root| wire.protocol().likeness(root))
}

/// Returns the wire a reply most likely belongs to.
pub fn detect_reply(body: &[u8]) -> Option<Wire> {
    most_likely(body, |wire, root| wire.protocol().reply_likeness(root))
}

fn most_likely(body: &[u8], likeness: impl Fn(Wire, Value<'_, '_>) -> u8) -> Option<Wire> {
    let doc = Doc::parse(body).ok()?;
    let root = doc.root()?;
    let best = Wire::ALL.into_iter().max_by_key(|wire| likeness(*wire, root))?;
    (likeness(best, root) > 0).then_some(best)
}

/// Returns the list of messages, on the wires that call it `messages`.
pub(super) fn messages<'d, 'a>(root: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    root.get("messages").filter(|list| list.kind() == Kind::Array)
}

/// Returns the parts of a message.
pub(super) fn blocks<'d, 'a>(message: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    message.get("content").into_iter().flat_map(Value::items)
}

/// Returns `true` if a body could be one of a wire with a list `messages`, none of which is
/// `foreign`.
pub(super) fn fits_messages(root: Value<'_, '_>, foreign: impl Fn(Value<'_, '_>) -> bool) -> bool {
    let has_list = |name: &str| root.get(name).is_some_and(Value::is_list);
    match root.get("messages").filter(|list| list.is_list()) {
        Some(messages) => !messages.items().any(foreign),
        None => !(has_list("contents") || has_list("input")),
    }
}

/// Returns `true` if a message holds a tool result inside its content.
pub(super) fn nests_result(message: Value<'_, '_>) -> bool {
    blocks(message).any(|block| {
        block.get("type").is_some_and(|name| name.is("tool_result"))
            || block.get("toolResult").is_some()
    })
}

/// Returns `true` if a message is a tool's, or lists calls beside its content.
pub(super) fn is_flat_tool_message(message: Value<'_, '_>) -> bool {
    message.get("tool_calls").is_some() || message.get("role").is_some_and(|role| role.is("tool"))
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

    #[test]
    fn a_body_of_no_wire_is_none() {
        assert_eq!(detect(b"{}"), None);
        assert_eq!(detect_reply(b"{}"), None);
        assert_eq!(detect(b"[1]"), None);
    }
}
