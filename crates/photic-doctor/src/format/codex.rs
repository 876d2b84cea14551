//! Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`, a record a line.
//!
//! `response_item` is an item of the Responses wire and is sent; `event_msg` repeats it for the
//! screen; `compacted` says what takes the place of everything before it.

use photic::json::Value;

use super::{Entry, History, Place, has_strings, string};

pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    const KINDS: [&str; 6] =
        ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    has_strings(root, &["timestamp", "type"])
        && root.get("payload").is_some()
        && KINDS.iter().any(|kind| root.get("type").is_some_and(|name| name.is(kind)))
}

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let Some(payload) = root.get("payload") else { return Entry::default() };
    let is = |kind: &str| root.get("type").is_some_and(|name| name.is(kind));
    if is("response_item") {
        return Entry { parts: vec![(payload, place(payload))], is_main: true, ..Entry::default() };
    }
    if is("compacted") {
        let kept = payload.get("replacement_history");
        let parts = kept.into_iter().flat_map(Value::items).map(|item| (item, place(item)));
        return Entry { parts: parts.collect(), history: History::Forgets, ..Entry::default() };
    }
    if is("turn_context") {
        return Entry { model: string(payload, "model"), ..Entry::default() };
    }
    Entry { parts: vec![(payload, Place::Copy)], ..Entry::default() }
}

/// What tools return is told apart from what people attach: it gives way first.
fn place(item: Value<'_, '_>) -> Place {
    let kind = item.get("type").and_then(|kind| kind.str());
    let is_output = kind.is_some_and(|kind| kind.decode().ends_with("_output"));
    if is_output { Place::result(false) } else { Place::USER }
}
