//! `POST /v1/messages`, as a strict host of it reads a request.
//!
//! This module owns the turns, the order of results in the turn behind the calls, and the body as
//! a whole. The blocks are in `blocks`. It must never merge neighbors of one role unless the rules
//! say so.

mod blocks;
mod cache;

use serde_json::{Map, Value};

use self::blocks::Block;
use super::seen::Slot;
use super::witness::{PartOrigin, Witness};

const BODY: [&str; 24] = [
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "fallbacks",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "thread",
    "tool_choice",
    "tools",
    "top_k",
];

struct Turn<'v> {
    role: &'v str,
    at: String,
    blocks: Vec<Block<'v>>,
}

pub(super) fn read(w: &mut Witness<'_>, body: &Map<String, Value>) {
    let mut known = BODY.to_vec();
    known.push("top_p");
    w.fields(body, "", &known);
    match body.get("max_tokens").map(Value::as_u64) {
        Some(Some(1..)) => {}
        Some(_) => w.violate("field_type", "/max_tokens", "max_tokens: Input should be > 0"),
        None => w.violate("field_missing", "", "max_tokens: Field required"),
    }
    system(w, body.get("system"));
    cache::breakpoints(w, body);
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        w.violate("field_missing", "", "messages: Field required");
        return;
    };
    if messages.is_empty() {
        w.violate("content_empty", "/messages", "messages: at least one message is required");
    }
    let turns = turns(w, messages);
    if let Some(first) = turns.first().filter(|first| first.role != "user") {
        let text = "messages: first message must use the \"user\" role";
        w.violate("first_message", &first.at, text);
    }
    let mut ids: Vec<&str> = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| turns.get(index));
        let after = turns.get(index + 1);
        for id in turn.calls() {
            if ids.contains(&id) {
                let text = format!("messages: `tool_use` ids must be unique: {id}");
                w.violate("call_id_duplicate", &turn.at, text);
            }
            ids.push(id);
        }
        w.for_code.extend(turn.calls_of_code().into_iter().map(str::to_owned));
        order(w, before, turn, after);
        pairs(w, before, turn, after);
        if let Some(before) = before {
            alone(w, before, turn);
        }
        for block in &turn.blocks {
            blocks::read(w, turn.slot(), block);
        }
    }
}

impl<'v> Turn<'v> {
    fn slot(&self) -> Slot {
        match self.role {
            "user" => Slot::User,
            "assistant" => Slot::Assistant,
            _ => Slot::System,
        }
    }

    /// Returns the ids of the calls of this turn.
    fn calls(&self) -> Vec<&'v str> {
        let calls = self.blocks.iter().filter(|block| block.kind() == "tool_use");
        calls.filter_map(|block| block.id("id")).collect()
    }

    /// Returns the ids of the calls that code makes in its container. Their results are not for
    /// the model.
    fn calls_of_code(&self) -> Vec<&'v str> {
        let calls = self.blocks.iter().filter(|block| block.kind() == "tool_use");
        let by_code = calls.filter(|block| block.caller().is_some_and(|caller| caller != "direct"));
        by_code.filter_map(|block| block.id("id")).collect()
    }

    /// Returns `true` if a tool that the service runs has no result in this turn.
    fn is_unresolved(&self) -> bool {
        let is_server = |kind: &str| matches!(kind, "server_tool_use" | "mcp_tool_use");
        let resolved = |id: &str| {
            self.blocks.iter().any(|block| {
                block.kind().ends_with("_tool_result") && block.id("tool_use_id") == Some(id)
            })
        };
        let mut servers = self.blocks.iter().filter(|block| is_server(block.kind()));
        servers.any(|block| !block.id("id").is_some_and(resolved))
    }

    /// Returns the ids of the results in this turn.
    fn results(&self) -> Vec<&'v str> {
        let results = self.blocks.iter().filter(|block| block.kind() == "tool_result");
        results.filter_map(|block| block.id("tool_use_id")).collect()
    }
}

/// Reads the messages as turns, and their content as blocks.
fn turns<'v>(w: &mut Witness<'_>, messages: &'v [Value]) -> Vec<Turn<'v>> {
    let mut turns: Vec<Turn<'v>> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}");
        let Some(message) = w.object(Some(message), &at) else { continue };
        w.fields(message, &at, &["role", "content"]);
        let Some(role) = w.string(message, "role", &at) else { continue };
        let system = role == "system" && w.rules.system_messages;
        if !system && !matches!(role, "user" | "assistant") {
            let text = format!("messages: Unexpected role \"{role}\".");
            w.violate("role_unknown", &at, text);
        }
        let last = index + 1 == messages.len() && role == "assistant";
        let blocks = blocks::of(w, message.get("content"), &format!("{at}/content"), last);
        match turns.last_mut() {
            Some(turn) if w.rules.merge_turns && turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(Turn { role, at, blocks }),
        }
    }
    turns
}

/// Checks that a `system` message is behind a user turn, and before an assistant turn or at the
/// end.
fn order(
    w: &mut Witness<'_>,
    before: Option<&Turn<'_>>,
    turn: &Turn<'_>,
    after: Option<&Turn<'_>>,
) {
    let fits = before.is_some_and(|turn| turn.role == "user")
        && after.is_none_or(|turn| turn.role == "assistant");
    if turn.role == "system" && !fits {
        let text =
            "messages: a system message must follow a user turn and precede an assistant turn";
        w.violate("role_order", &turn.at, text);
    }
}

/// Checks that every call of a turn is answered at the start of the next one, and nothing else is.
fn pairs(
    w: &mut Witness<'_>,
    before: Option<&Turn<'_>>,
    turn: &Turn<'_>,
    after: Option<&Turn<'_>>,
) {
    let answers = after.filter(|after| after.role == "user").map(Turn::results).unwrap_or_default();
    let missing: Vec<&str> = turn.calls().into_iter().filter(|id| !answers.contains(id)).collect();
    if !missing.is_empty() {
        let text = format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            missing.join(", ")
        );
        w.violate("call_unanswered", &turn.at, text);
    }
    let calls = before.map(Turn::calls).unwrap_or_default();
    let mut answered: Vec<&str> = Vec::new();
    let mut other = false;
    for block in &turn.blocks {
        if block.kind() != "tool_result" {
            other = true;
            continue;
        }
        if other {
            let text = "`tool_result` blocks must come first in the content of a user message";
            w.violate("result_not_first", &block.at, text);
        }
        let Some(id) = block.id("tool_use_id") else { continue };
        if answered.contains(&id) {
            let text = format!(
                "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            );
            w.violate("result_duplicate", &block.at, text);
        } else if !calls.contains(&id) {
            let text = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            );
            w.violate("result_orphan", &block.at, text);
        }
        answered.push(id);
    }
}

/// Checks that the next user turn holds only results while a server tool waits or code makes
/// calls.
fn alone(w: &mut Witness<'_>, before: &Turn<'_>, turn: &Turn<'_>) {
    let waits = before.is_unresolved() || !before.calls_of_code().is_empty();
    if !waits || turn.role != "user" || turn.results().is_empty() {
        return;
    }
    for block in turn.blocks.iter().filter(|block| block.kind() != "tool_result") {
        let text = "messages: only `tool_result` blocks are allowed while a server tool use or a programmatic tool call is pending";
        w.violate("result_sibling", &block.at, text);
    }
}

fn system(w: &mut Witness<'_>, system: Option<&Value>) {
    let place = PartOrigin::new(Slot::System, "/system");
    match system {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => w.text(&place, text),
        Some(Value::Array(parts)) => {
            w.content();
            for (index, part) in parts.iter().enumerate() {
                let place = place.down(index);
                if part["type"] == "text" {
                    blocks::text(w, &place, part);
                } else {
                    let text = "system: Input should be of type 'text'";
                    w.violate("part_wrong_role", &place.at, text);
                }
            }
        }
        Some(_) => w.violate("field_type", "/system", "system: Input should be a valid list"),
    }
}
