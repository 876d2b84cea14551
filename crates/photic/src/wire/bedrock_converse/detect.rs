//! Tells a `Converse` body from those of other wires.

use crate::json::Value;
use crate::wire::detect::{blocks, fits_messages, is_flat_tool_message, messages};

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let Some(messages) = messages(root) else { return 0 };
    let is_own = root.get("inferenceConfig").is_some()
        || root.get("toolConfig").is_some()
        || messages.items().any(has_own_blocks);
    if is_own { 70 } else { 0 }
}

/// Blocks of this wire have no `type`: their only member names them.
fn has_own_blocks(message: Value<'_, '_>) -> bool {
    const NAMES: [&str; 6] = ["text", "image", "document", "toolUse", "toolResult", "video"];
    blocks(message).any(|block| {
        block.get("type").is_none() && NAMES.iter().any(|name| block.get(name).is_some())
    })
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    if root.get("stopReason").is_some() { 70 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    fits_messages(root, is_flat_tool_message)
}
