//! opencode: `~/.local/share/opencode/opencode.db`, a part a row (`part.data`).
//!
//! A file of the user is a part by itself; what a tool returned hangs on the part of its call.

use photic::json::Value;

use super::{Entry, Place};

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let is_file = root.get("type").is_some_and(|kind| kind.is("file"));
    if is_file {
        return Entry { parts: vec![(root, Place::USER)], is_main: true, ..Entry::default() };
    }
    let state = root.get("state");
    // What was compacted is not sent any more.
    let is_old = state
        .and_then(|state| state.get("time"))
        .is_some_and(|time| time.get("compacted").is_some());
    let attachments = state.and_then(|state| state.get("attachments"));
    let place = if is_old { Place::Copy } else { Place::result(false) };
    let mut parts: Vec<_> = attachments.map(|value| (value, place)).into_iter().collect();
    // Tools keep what they returned in here, too.
    parts.extend(state.and_then(|state| state.get("metadata")).map(|value| (value, Place::Copy)));
    parts.sort_by_key(|(value, _)| value.span().start);
    let words = state.and_then(|state| state.get("output"));
    Entry { parts, words, is_main: true, ..Entry::default() }
}
