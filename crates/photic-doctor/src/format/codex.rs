//! Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`, one record per line.
//!
//! `response_item` is an item of the Responses API and is sent; `event_msg` repeats it for the
//! screen; `compacted` replaces everything before it.

use photic::json::Value;

use super::record::{HistoryEffect, MediaUse, RecordMedia, has_strings, string};

/// Returns `true` for a record of this format.
pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    const KINDS: [&str; 6] =
        ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    has_strings(root, &["timestamp", "type"])
        && root.get("payload").is_some()
        && KINDS.iter().any(|kind| root.get("type").is_some_and(|name| name.is(kind)))
}

/// Reads a record.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let Some(payload) = root.get("payload") else { return RecordMedia::default() };
    let is = |kind: &str| root.get("type").is_some_and(|name| name.is(kind));
    if is("response_item") {
        return RecordMedia {
            parts: vec![(payload, place(payload))],
            is_main: true,
            ..RecordMedia::default()
        };
    }
    if is("compacted") {
        let kept = payload.get("replacement_history");
        let parts = kept.into_iter().flat_map(Value::items).map(|item| (item, place(item)));
        return RecordMedia {
            parts: parts.collect(),
            history: HistoryEffect::Discards,
            ..RecordMedia::default()
        };
    }
    if is("turn_context") {
        return RecordMedia { model: string(payload, "model"), ..RecordMedia::default() };
    }
    RecordMedia { parts: vec![(payload, MediaUse::Copy)], ..RecordMedia::default() }
}

/// Distinguishes results of tools from attachments of people: results give way first.
fn place(item: Value<'_, '_>) -> MediaUse {
    let kind = item.get("type").and_then(|kind| kind.str());
    let is_output = kind.is_some_and(|kind| kind.decode().ends_with("_output"));
    if is_output { MediaUse::result(false) } else { MediaUse::USER }
}
