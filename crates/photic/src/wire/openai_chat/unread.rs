//! Lists the members of a Chat Completions body that the reader ignores.

use crate::json::{Kind, Value};
use crate::lift::text_of;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for message in root.get("messages").into_iter().flat_map(Value::items) {
        let read: &[&str] = match &*text_of(message, "role").decode() {
            "system" | "developer" | "user" => &["role", "content"],
            "assistant" => &["role", "content", "refusal", "tool_calls", "reasoning_content"],
            "tool" => &["role", "content", "tool_call_id"],
            _ => continue,
        };
        unread.object(message, read);
        for part in message.get("content").into_iter().flat_map(Value::items) {
            self::part(part, unread);
        }
        for call in message.get("tool_calls").into_iter().flat_map(Value::items) {
            if call.get("function").or_else(|| call.get("custom")).is_some() {
                unread.object(call, &["id", "type", "function", "custom"]);
                unread.within(call, "function", &["name", "arguments"]);
                unread.within(call, "custom", &["name", "input"]);
            }
        }
    }
}

fn part<'a>(part: Value<'_, 'a>, unread: &mut Unread<'a>) {
    match &*text_of(part, "type").decode() {
        "text" if part.get("text").is_some_and(|text| text.kind() == Kind::String) => {
            unread.object(part, &["type", "text"]);
        }
        "refusal" => unread.object(part, &["type", "refusal"]),
        "image_url" => {
            unread.object(part, &["type", "image_url"]);
            unread.within(part, "image_url", &["url", "detail"]);
        }
        "input_audio" => {
            unread.object(part, &["type", "input_audio"]);
            unread.within(part, "input_audio", &["data", "format"]);
        }
        "file" => {
            unread.object(part, &["type", "file", "file_id"]);
            unread.within(part, "file", &["file_data", "file_id", "filename"]);
        }
        "document_url" => unread.object(part, &["type", "document_url", "document_name"]),
        // A part that is not understood is left out as a whole.
        _ => {}
    }
}
