//! Tells a Messages body from those of other wires.

use crate::json::Value;
use crate::wire::detect::{blocks, fits_messages, is_flat_tool_message, messages};

/// Returns less than Chat Completions does: servers of that wire take some of these members, too.
pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let Some(messages) = messages(root) else { return 0 };
    let is_own = messages.items().any(has_own_blocks)
        || ["system", "anthropic_version", "stop_sequences", "thinking"]
            .iter()
            .any(|name| root.get(name).is_some())
        || root
            .get("tools")
            .is_some_and(|tools| tools.items().any(|tool| tool.get("input_schema").is_some()));
    if is_own || names_claude(root, messages) { 40 } else { 0 }
}

/// A plain text conversation looks like one of Chat Completions. The model's name is the best
/// hint.
fn names_claude(root: Value<'_, '_>, messages: Value<'_, '_>) -> bool {
    let model = root.get("model").and_then(|model| model.str()).map(|model| model.decode());
    let has_system =
        messages.items().any(|message| message.get("role").is_some_and(|role| role.is("system")));
    model.is_some_and(|model| model.contains("claude"))
        && root.get("max_tokens").is_some()
        && !has_system
}

fn has_own_blocks(message: Value<'_, '_>) -> bool {
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

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    let is_own = root.get("type").is_some_and(|name| name.is("message") || name.is("error"));
    if is_own { 40 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    fits_messages(root, is_flat_tool_message)
}
