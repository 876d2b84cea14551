//! qwen-code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, a record a line.
//!
//! `message` has the parts of the Gemini wire, whatever wire the agent then speaks.

use photic::json::Value;

use super::{Entry, History, Place, all_but, has_strings, string};

pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    has_strings(root, &["uuid", "sessionId", "type", "cwd"])
        && root.get("message").is_some_and(|message| message.get("parts").is_some())
}

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let is_result = root.get("type").is_some_and(|kind| kind.is("tool_result"));
    let place = if is_result { Place::result(false) } else { Place::USER };
    let compressed = root.get("systemPayload").and_then(|payload| payload.get("compressedHistory"));
    if let Some(kept) = compressed {
        let parts = vec![(kept, Place::USER)];
        return Entry { parts, history: History::Forgets, is_main: true, ..Entry::default() };
    }
    let mut parts: Vec<_> = all_but(root, "message").collect();
    parts
        .extend(root.get("message").and_then(|message| message.get("parts")).map(|it| (it, place)));
    parts.sort_by_key(|(value, _)| value.span().start);
    Entry { parts, model: string(root, "model"), is_main: true, ..Entry::default() }
}
