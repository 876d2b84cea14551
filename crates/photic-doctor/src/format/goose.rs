//! goose: `~/.local/share/goose/sessions/sessions.db`, a message a row (`messages.content_json`).

use photic::json::Value;

use super::{Entry, Place};

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let parts = root.items().map(|part| {
        let is_result = part.get("type").is_some_and(|kind| kind.is("toolResponse"));
        (part, if is_result { Place::result(false) } else { Place::USER })
    });
    Entry { parts: parts.collect(), is_main: true, ..Entry::default() }
}
