//! qwen-code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, one record per line.
//!
//! `message` has the parts of the Gemini API, whatever API the agent uses.

use photic::json::Value;

use super::record::{HistoryEffect, MediaUse, RecordMedia, all_but, has_strings, string};

/// Returns `true` for a record of this format.
pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    has_strings(root, &["uuid", "sessionId", "type", "cwd"])
        && root.get("message").is_some_and(|message| message.get("parts").is_some())
}

/// Reads a record.
pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
    let is_result = root.get("type").is_some_and(|kind| kind.is("tool_result"));
    let place = if is_result { MediaUse::result(false) } else { MediaUse::USER };
    let compressed = root.get("systemPayload").and_then(|payload| payload.get("compressedHistory"));
    if let Some(kept) = compressed {
        let parts = vec![(kept, MediaUse::USER)];
        return RecordMedia {
            parts,
            history: HistoryEffect::Discards,
            is_main: true,
            ..RecordMedia::default()
        };
    }
    let mut parts: Vec<_> = all_but(root, "message").collect();
    parts
        .extend(root.get("message").and_then(|message| message.get("parts")).map(|it| (it, place)));
    parts.sort_by_key(|(value, _)| value.span().start);
    RecordMedia { parts, model: string(root, "model"), is_main: true, ..RecordMedia::default() }
}
