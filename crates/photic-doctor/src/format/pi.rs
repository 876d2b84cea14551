//! pi and oh-my-pi: `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`, one record per line.
//!
//! Records form a tree; all of it counts as sent. `details` of a result is for the screen.

use photic::json::Value;

use super::record::{HistoryEffect, MediaUse, RecordMedia, all_but, has_strings, string};

/// Returns `true` for a record of this format.
pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    let is = |kind: &str| root.get("type").is_some_and(|name| name.is(kind));
    (is("session") && has_strings(root, &["id", "timestamp", "cwd"]))
        || (is("message") && root.get("parentId").is_some() && root.get("message").is_some())
}

/// Reads a record.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let id = string(root, "id");
    let kind = string(root, "type").unwrap_or_default();
    match kind.as_str() {
        "message" => {
            let Some(message) = root.get("message") else { return RecordMedia::default() };
            let is_result = message.get("role").is_some_and(|role| role.is("toolResult"));
            let place = if is_result { MediaUse::result(false) } else { MediaUse::USER };
            let mut parts: Vec<_> = all_but(message, "content").collect();
            parts.extend(message.get("content").map(|value| (value, place)));
            parts.sort_by_key(|(value, _)| value.span().start);
            RecordMedia {
                parts,
                model: string(message, "model"),
                id,
                is_main: true,
                ..RecordMedia::default()
            }
        }
        "custom_message" => {
            let parts =
                root.get("content").map(|value| (value, MediaUse::USER)).into_iter().collect();
            RecordMedia { parts, id, is_main: true, ..RecordMedia::default() }
        }
        "compaction" => {
            let kept = string(root, "firstKeptEntryId");
            let history = kept.map_or(HistoryEffect::Discards, HistoryEffect::KeepsFrom);
            RecordMedia { history, id, ..RecordMedia::default() }
        }
        "model_change" => {
            RecordMedia { model: string(root, "modelId"), id, ..RecordMedia::default() }
        }
        _ => RecordMedia { parts: all_but(root, "").collect(), id, ..RecordMedia::default() },
    }
}
