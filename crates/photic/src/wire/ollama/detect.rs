//! Tells an `/api/chat` body from those of other wires.

use crate::json::{Kind, Value};
use crate::wire::detect::{fits_messages, messages, nests_result};

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let Some(messages) = messages(root) else { return 0 };
    let is_own = ["options", "keep_alive", "think"].iter().any(|name| root.get(name).is_some())
        || messages
            .items()
            .any(|message| has_bare_images(message) || message.get("tool_name").is_some());
    if is_own { 60 } else { 0 }
}

/// Returns `true` if a message lists images as bare base64. Routers list parts under the same
/// name.
fn has_bare_images(message: Value<'_, '_>) -> bool {
    let mut images = message.get("images").into_iter().flat_map(Value::items);
    images.any(|image| image.kind() == Kind::String)
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    let is_own = root.get("done").is_some() && root.get("message").is_some();
    if is_own { 50 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    fits_messages(root, nests_result)
}
