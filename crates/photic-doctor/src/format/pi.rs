//! pi and oh-my-pi: `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`, a record a line.
//!
//! Records are a tree; all of it is taken for sent. `details` of a result is for the screen.

use photic::json::Value;

use super::{Entry, History, Place, all_but, has_strings, string};

pub(super) fn recognizes(root: Value<'_, '_>) -> bool {
    let is = |kind: &str| root.get("type").is_some_and(|name| name.is(kind));
    (is("session") && has_strings(root, &["id", "timestamp", "cwd"]))
        || (is("message") && root.get("parentId").is_some() && root.get("message").is_some())
}

pub(super) fn read<'d, 'a>(root: Value<'d, 'a>) -> Entry<'d, 'a> {
    let id = string(root, "id");
    let kind = string(root, "type").unwrap_or_default();
    match kind.as_str() {
        "message" => {
            let Some(message) = root.get("message") else { return Entry::default() };
            let is_result = message.get("role").is_some_and(|role| role.is("toolResult"));
            let place = if is_result { Place::result(false) } else { Place::USER };
            let mut parts: Vec<_> = all_but(message, "content").collect();
            parts.extend(message.get("content").map(|value| (value, place)));
            parts.sort_by_key(|(value, _)| value.span().start);
            Entry { parts, model: string(message, "model"), id, is_main: true, ..Entry::default() }
        }
        "custom_message" => {
            let parts = root.get("content").map(|value| (value, Place::USER)).into_iter().collect();
            Entry { parts, id, is_main: true, ..Entry::default() }
        }
        "compaction" => {
            let kept = string(root, "firstKeptEntryId");
            let history = kept.map_or(History::Forgets, History::KeepsFrom);
            Entry { history, id, ..Entry::default() }
        }
        "model_change" => Entry { model: string(root, "modelId"), id, ..Entry::default() },
        _ => Entry { parts: all_but(root, "").collect(), id, ..Entry::default() },
    }
}
