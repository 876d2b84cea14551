//! Tells a Responses body from those of other wires.

use crate::json::Value;

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    let is_own = root.get("input").is_some() || root.get("previous_response_id").is_some();
    if is_own { 90 } else { 0 }
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    if root.get("output").is_some() { 60 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    let has_list = |name: &str| root.get(name).is_some_and(Value::is_list);
    root.get("input").is_some() || !(has_list("messages") || has_list("contents"))
}
