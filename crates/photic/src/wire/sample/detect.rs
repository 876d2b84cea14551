//! Tells a body of the sample wire from those of other wires.

use crate::json::Value;

pub(super) fn likeness(root: Value<'_, '_>) -> u8 {
    if root.get("turns").is_some_and(Value::is_list) { 90 } else { 0 }
}

pub(super) fn reply_likeness(root: Value<'_, '_>) -> u8 {
    if root.get("turn").is_some() { 90 } else { 0 }
}

pub(super) fn fits(root: Value<'_, '_>) -> bool {
    root.get("turns").is_some()
}
