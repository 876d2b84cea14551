//! Tells a `generateContent` body from those of other wires.

use crate::json::{Kind, Value};

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let is_own = root.get("contents").is_some_and(|list| list.kind() == Kind::Array);
    if is_own { 80 } else { 0 }
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    let is_own = root.get("candidates").is_some() || root.get("promptFeedback").is_some();
    if is_own { 80 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    let has_list = |name: &str| root.get(name).is_some_and(Value::is_list);
    has_list("contents") || !(has_list("messages") || root.get("input").is_some())
}
