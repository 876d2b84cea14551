//! goose: `~/.local/share/goose/sessions/sessions.db`, one message per row
//! (`messages.content_json`).

use photic::json::Value;

use super::record::{MediaUse, RecordMedia};

/// Reads a row.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let parts = root.items().map(|part| {
        let is_result = part.get("type").is_some_and(|kind| kind.is("toolResponse"));
        (part, if is_result { MediaUse::result(false) } else { MediaUse::USER })
    });
    RecordMedia { parts: parts.collect(), is_main: true, ..RecordMedia::default() }
}
