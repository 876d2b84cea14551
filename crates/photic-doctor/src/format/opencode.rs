//! opencode: `~/.local/share/opencode/opencode.db`, one part per row (`part.data`).
//!
//! A file of the user is a part of its own; the result of a tool belongs to the part of its call.

use photic::json::Value;

use super::record::{MediaUse, RecordMedia};

/// Reads a row.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let is_file = root.get("type").is_some_and(|kind| kind.is("file"));
    if is_file {
        return RecordMedia {
            parts: vec![(root, MediaUse::USER)],
            is_main: true,
            ..RecordMedia::default()
        };
    }
    let state = root.get("state");
    // Compacted results are no longer sent.
    let is_old = state
        .and_then(|state| state.get("time"))
        .is_some_and(|time| time.get("compacted").is_some());
    let attachments = state.and_then(|state| state.get("attachments"));
    let place = if is_old { MediaUse::Copy } else { MediaUse::result(false) };
    let mut parts: Vec<_> = attachments.map(|value| (value, place)).into_iter().collect();
    // Tools also keep their results here.
    parts
        .extend(state.and_then(|state| state.get("metadata")).map(|value| (value, MediaUse::Copy)));
    parts.sort_by_key(|(value, _)| value.span().start);
    let words = state.and_then(|state| state.get("output"));
    RecordMedia { parts, words, is_main: true, ..RecordMedia::default() }
}
