//! Cache breakpoints of a Messages request: their number, blocks, and order of lifetimes.
//!
//! The walk follows the order in which the service builds its prefix: tools, system, messages.

use serde_json::{Map, Value};

use crate::oracle::witness::Witness;

/// One breakpoint.
struct Breakpoint {
    at: String,
    /// `true` if it lives an hour instead of five minutes.
    long: bool,
}

/// Checks the cache breakpoints of the whole request:
///
/// - There is a maximum number. The one that the service sets by itself, if the top level asks
///   for it, counts too.
/// - Thinking and empty texts cannot carry one.
/// - None that lives an hour may come after one that lives five minutes.
pub(super) fn breakpoints(w: &mut Witness<'_>, body: &Map<String, Value>) {
    let mut found = Vec::new();
    for key in ["tools", "system"] {
        if let Some(value) = body.get(key) {
            find(value, &format!("/{key}"), &mut found);
        }
    }
    let messages = body.get("messages").and_then(Value::as_array);
    for (message, content) in messages.into_iter().flatten().enumerate() {
        let blocks = content.get("content").and_then(Value::as_array).into_iter().flatten();
        for (index, block) in blocks.enumerate() {
            let at = format!("/messages/{message}/content/{index}");
            // The input of a call is the tool's own data, whatever its keys are.
            if block["type"] == "tool_use" {
                own(block, &at, &mut found);
            } else {
                find(block, &at, &mut found);
            }
            let marked = block["cache_control"].is_object();
            let thinks = matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
            if marked && (thinks || block["text"] == "") {
                let text = "cache_control cannot be set for thinking or empty text blocks";
                w.violate("breakpoint_misplaced", &at, text);
            }
        }
    }
    // The breakpoint that the service sets by itself is on the last block.
    if let Some(automatic) = body.get("cache_control").filter(|mark| mark.is_object()) {
        found.push(Breakpoint { at: "/cache_control".to_owned(), long: is_long(automatic) });
    }
    w.breakpoints(found.len());
    let mut short = false;
    for breakpoint in found {
        if breakpoint.long && short {
            let text =
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block";
            w.violate("breakpoint_order", &breakpoint.at, text);
        }
        short |= !breakpoint.long;
    }
}

fn is_long(mark: &Value) -> bool {
    mark["ttl"] == "1h"
}

fn own(value: &Value, at: &str, found: &mut Vec<Breakpoint>) {
    if let Some(mark) = value.get("cache_control").filter(|mark| mark.is_object()) {
        found.push(Breakpoint { at: at.to_owned(), long: is_long(mark) });
    }
}

/// Finds the breakpoints of a value. Those inside it come before its own, which ends it.
fn find(value: &Value, at: &str, found: &mut Vec<Breakpoint>) {
    match value {
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                find(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(object) => {
            for (key, member) in object {
                find(member, &format!("{at}/{key}"), found);
            }
            own(value, at, found);
        }
        _ => {}
    }
}
