//! Lists the members of a Messages body that the reader ignores.

use crate::json::{Kind, Value};
use crate::lift::text_of;
use crate::lower::Unread;

/// The depth to which blocks are read.
const DEEPEST: u8 = 4;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for one in root.get("system").into_iter().flat_map(Value::items) {
        block(one, 0, unread);
    }
    for message in root.get("messages").into_iter().flat_map(Value::items) {
        if !matches!(&*text_of(message, "role").decode(), "user" | "assistant" | "system") {
            continue;
        }
        unread.object(message, &["role", "content"]);
        for one in message.get("content").into_iter().flat_map(Value::items) {
            block(one, 0, unread);
        }
    }
}

fn block<'a>(value: Value<'_, 'a>, depth: u8, unread: &mut Unread<'a>) {
    if depth == DEEPEST {
        return;
    }
    let all = |list: Option<Value<'_, 'a>>, unread: &mut Unread<'a>| {
        for one in list.into_iter().flat_map(Value::items) {
            block(one, depth + 1, unread);
        }
    };
    match &*text_of(value, "type").decode() {
        "text" if value.get("text").is_some_and(|text| text.kind() == Kind::String) => {
            unread.object(value, &["type", "text"]);
        }
        "tool_use" => unread.object(value, &["type", "id", "name", "input"]),
        "tool_result" if depth == 0 => {
            unread.object(value, &["type", "tool_use_id", "content", "is_error"]);
            all(value.get("content"), unread);
        }
        "compaction" if value.get("content").is_some_and(|text| text.kind() == Kind::String) => {
            unread.object(value, &["type", "content"]);
        }
        "search_result" => {
            unread.object(value, &["type", "content"]);
            all(value.get("content"), unread);
        }
        "image" | "document" => {
            let Some(source) = value.get("source") else { return };
            let is_list = source.get("type").is_some_and(|name| name.is("content"));
            let title = if is_list { "source" } else { "title" };
            unread.object(value, &["type", "source", title]);
            match &*text_of(source, "type").decode() {
                "base64" | "text" => unread.object(source, &["type", "media_type", "data"]),
                "url" => unread.object(source, &["type", "url"]),
                "file" => unread.object(source, &["type", "file_id"]),
                "content" => {
                    unread.object(source, &["type", "content"]);
                    all(source.get("content"), unread);
                }
                _ => {}
            }
        }
        _ => {}
    }
}
