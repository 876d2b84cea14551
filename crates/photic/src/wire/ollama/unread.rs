//! Lists the members of an `/api/chat` body that the reader ignores.

use crate::json::Value;
use crate::lift::text_of;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for message in root.get("messages").into_iter().flat_map(Value::items) {
        let read: &[&str] = match &*text_of(message, "role").decode() {
            "system" | "user" => &["role", "content", "images"],
            "assistant" => &["role", "content", "images", "thinking", "tool_calls"],
            "tool" => &["role", "content", "images", "tool_name", "tool_call_id"],
            _ => continue,
        };
        unread.object(message, read);
        for call in message.get("tool_calls").into_iter().flat_map(Value::items) {
            if call.get("function").is_some() {
                unread.object(call, &["id", "function", "type"]);
                unread.within(call, "function", &["name", "arguments"]);
            }
        }
    }
}
