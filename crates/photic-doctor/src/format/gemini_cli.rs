//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`, a record a line; `….json`, one
//! document, before that.
//!
//! A message that is written again under the same id takes the place of the earlier one.

use photic::json::{Kind, Value};

use super::{Entry, History, Place, has_strings, string};

pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    has_strings(root, &["sessionId", "projectHash"]) && root.get("messages").is_none()
}

pub(super) fn is_document(root: Value<'_, '_>) -> bool {
    has_strings(root, &["sessionId", "projectHash"])
        && root.get("messages").is_some_and(|list| list.kind() == Kind::Array)
}

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    if let Some(to) = string(root, "$rewindTo") {
        return Entry { history: History::RewindsTo(to), ..Entry::default() };
    }
    let replaced = root.get("$set").and_then(|set| set.get("messages"));
    let list = replaced.or_else(|| root.get("messages"));
    let Some(list) = list.filter(|list| list.kind() == Kind::Array) else {
        return Entry {
            parts: message(root),
            model: string(root, "model"),
            id: string(root, "id"),
            is_main: true,
            ..Entry::default()
        };
    };
    Entry {
        parts: list.items().flat_map(message).collect(),
        model: list.items().filter_map(|one| string(one, "model")).last(),
        history: if replaced.is_some() { History::Forgets } else { History::Goes },
        is_main: true,
        ..Entry::default()
    }
}

/// A message: what was said, and the results of its calls.
fn message<'d, 'a>(message: Value<'d, 'a>) -> Vec<(Value<'d, 'a>, Place)> {
    let mut parts = Vec::new();
    for (key, value) in message.entries() {
        if key.is("content") {
            parts.push((value, Place::USER));
        } else if key.is("toolCalls") {
            for call in value.items() {
                for (key, value) in call.entries() {
                    let place = if key.is("result") { Place::result(false) } else { Place::Copy };
                    parts.push((value, place));
                }
            }
        } else if matches!(value.kind(), Kind::Object | Kind::Array) {
            parts.push((value, Place::Copy));
        }
    }
    parts
}
