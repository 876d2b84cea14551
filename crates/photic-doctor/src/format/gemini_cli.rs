//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`, one record per line; `….json`, one
//! document, in older versions.
//!
//! A message that is written again with the same ID replaces the earlier one.

use photic::json::{Kind, Value};

use super::record::{HistoryEffect, MediaUse, RecordMedia, has_strings, string};

/// Returns `true` for a record of this format.
pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    has_strings(root, &["sessionId", "projectHash"]) && root.get("messages").is_none()
}

/// Returns `true` for a session in one document.
pub(super) fn is_document(root: Value<'_, '_>) -> bool {
    has_strings(root, &["sessionId", "projectHash"])
        && root.get("messages").is_some_and(|list| list.kind() == Kind::Array)
}

/// Reads a record or document.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    if let Some(to) = string(root, "$rewindTo") {
        return RecordMedia { history: HistoryEffect::RewindsTo(to), ..RecordMedia::default() };
    }
    let replaced = root.get("$set").and_then(|set| set.get("messages"));
    let list = replaced.or_else(|| root.get("messages"));
    let Some(list) = list.filter(|list| list.kind() == Kind::Array) else {
        return RecordMedia {
            parts: message(root),
            model: string(root, "model"),
            id: string(root, "id"),
            is_main: true,
            ..RecordMedia::default()
        };
    };
    RecordMedia {
        parts: list.items().flat_map(message).collect(),
        model: list.items().filter_map(|one| string(one, "model")).last(),
        history: if replaced.is_some() {
            HistoryEffect::Discards
        } else {
            HistoryEffect::Unchanged
        },
        is_main: true,
        ..RecordMedia::default()
    }
}

/// The parts of a message: its content, and the results of its calls.
fn message<'d, 'a>(message: Value<'d, 'a>) -> Vec<(Value<'d, 'a>, MediaUse)> {
    let mut parts = Vec::new();
    for (key, value) in message.entries() {
        if key.is("content") {
            parts.push((value, MediaUse::USER));
        } else if key.is("toolCalls") {
            for call in value.items() {
                for (key, value) in call.entries() {
                    let place =
                        if key.is("result") { MediaUse::result(false) } else { MediaUse::Copy };
                    parts.push((value, place));
                }
            }
        } else if matches!(value.kind(), Kind::Object | Kind::Array) {
            parts.push((value, MediaUse::Copy));
        }
    }
    parts
}
