//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one record per line.
//!
//! `message` is a message of the Messages API and is sent; `toolUseResult` repeats the result of a
//! tool for the screen. Records are never removed: after a `compact_boundary`, nothing before it is
//! sent.

use photic::Slot;
use photic::json::Value;
use photic::transcript::Role;

use super::record::{HistoryEffect, MediaUse, RecordMedia, all_but, has_strings, string};

/// Returns `true` for a record of this format.
pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    let is_message = has_strings(root, &["type", "uuid", "sessionId"])
        && root.get("message").is_some_and(|message| message.get("content").is_some());
    let is_summary = root.get("type").is_some_and(|kind| kind.is("summary"))
        && has_strings(root, &["summary", "leafUuid"]);
    let is_snapshot = root.get("type").is_some_and(|kind| kind.is("file-history-snapshot"));
    is_message || is_summary || is_snapshot
}

/// Reads a record.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let is_aside = root.get("isSidechain").and_then(|aside| aside.bool()) == Some(true);
    let message = root.get("message");
    let user = Slot::Message(Role::User);
    let place = if is_aside { MediaUse::Aside(user) } else { MediaUse::Sent(user) };
    let is_boundary = root.get("subtype").is_some_and(|kind| kind.is("compact_boundary"));
    let mut parts: Vec<_> = all_but(root, "message").collect();
    parts.extend(message.and_then(|message| message.get("content")).map(|value| (value, place)));
    // Copies come after the message in some versions, and before it in others.
    parts.sort_by_key(|(value, _)| value.span().start);
    RecordMedia {
        parts,
        model: message
            .and_then(|message| string(message, "model"))
            .filter(|name| !name.contains('<')),
        history: if is_boundary { HistoryEffect::Discards } else { HistoryEffect::Unchanged },
        is_main: message.is_some() && !is_aside,
        ..RecordMedia::default()
    }
}
