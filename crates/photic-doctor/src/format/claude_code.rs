//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, a record a line.
//!
//! `message` is a message of the Messages wire and is sent; `toolUseResult` repeats what a tool
//! returned, for the screen. Records are never taken back: a `compact_boundary` says that nothing
//! before it is sent any more.

use photic::Slot;
use photic::json::Value;
use photic::transcript::Role;

use super::{Entry, History, Place, all_but, has_strings, string};

pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    let is_message = has_strings(root, &["type", "uuid", "sessionId"])
        && root.get("message").is_some_and(|message| message.get("content").is_some());
    let is_summary = root.get("type").is_some_and(|kind| kind.is("summary"))
        && has_strings(root, &["summary", "leafUuid"]);
    let is_snapshot = root.get("type").is_some_and(|kind| kind.is("file-history-snapshot"));
    is_message || is_summary || is_snapshot
}

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let is_aside = root.get("isSidechain").and_then(|aside| aside.bool()) == Some(true);
    let message = root.get("message");
    let user = Slot::Message(Role::User);
    let place = if is_aside { Place::Aside(user) } else { Place::Sent(user) };
    let is_boundary = root.get("subtype").is_some_and(|kind| kind.is("compact_boundary"));
    let mut parts: Vec<_> = all_but(root, "message").collect();
    parts.extend(message.and_then(|message| message.get("content")).map(|value| (value, place)));
    // Copies stand behind the message in some versions, before it in others.
    parts.sort_by_key(|(value, _)| value.span().start);
    Entry {
        parts,
        model: message
            .and_then(|message| string(message, "model"))
            .filter(|name| !name.contains('<')),
        history: if is_boundary { History::Forgets } else { History::Goes },
        is_main: message.is_some() && !is_aside,
        ..Entry::default()
    }
}
