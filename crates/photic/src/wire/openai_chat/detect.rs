//! Tells a Chat Completions body from those of other wires.

use crate::json::Value;
use crate::wire::detect::{blocks, fits_messages, messages, nests_result};

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let Some(messages) = messages(root) else { return 0 };
    let is_chat = messages.items().any(|message| {
        message.get("tool_calls").is_some()
            || message.get("role").is_some_and(|role| role.is("tool") || role.is("developer"))
            || blocks(message)
                .any(|part| part.get("image_url").is_some() || part.get("file").is_some())
    });
    // A plain text conversation without other hints is taken for one of this wire.
    if is_chat { 50 } else { 10 }
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    if root.get("choices").is_some() {
        90
    } else if root.get("error").is_some() {
        10
    } else {
        0
    }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    fits_messages(root, nests_result)
}
