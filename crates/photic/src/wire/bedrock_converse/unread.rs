//! Lists the members of a `Converse` body that the reader ignores.

use crate::json::Value;
use crate::lift::text_of;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for one in root.get("system").into_iter().flat_map(Value::items) {
        block(one, unread);
    }
    for message in root.get("messages").into_iter().flat_map(Value::items) {
        if !matches!(&*text_of(message, "role").decode(), "user" | "assistant") {
            continue;
        }
        unread.object(message, &["role", "content"]);
        for one in message.get("content").into_iter().flat_map(Value::items) {
            block(one, unread);
        }
    }
}

fn block<'a>(value: Value<'_, 'a>, unread: &mut Unread<'a>) {
    let Some((key, inner)) = value.entries().next() else { return };
    let key = key.decode();
    // A block has one member; others are not read.
    unread.object(value, &[&*key]);
    match &*key {
        "image" | "audio" => {
            unread.object(inner, &["format", "source"]);
            source(inner, unread);
        }
        "document" => {
            let is_list = inner.get("source").is_some_and(|source| source.get("content").is_some());
            let name = if is_list { "source" } else { "name" };
            unread.object(inner, &["format", name, "source"]);
            source(inner, unread);
        }
        "toolUse" => unread.object(inner, &["toolUseId", "name", "input"]),
        "toolResult" => {
            unread.object(inner, &["toolUseId", "content", "status"]);
            for one in inner.get("content").into_iter().flat_map(Value::items) {
                block(one, unread);
            }
        }
        _ => {}
    }
}

fn source<'a>(medium: Value<'_, 'a>, unread: &mut Unread<'a>) {
    let Some(source) = medium.get("source") else { return };
    unread.object(source, &["bytes", "text", "s3Location", "content"]);
    unread.within(source, "s3Location", &["uri"]);
    for one in source.get("content").into_iter().flat_map(Value::items) {
        unread.object(one, &["text"]);
    }
}
