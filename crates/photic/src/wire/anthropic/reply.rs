//! Replies of Messages.

use super::lift::read_turn;
use super::lower::content;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::Writer;
use crate::reply::{Reply, Stop, Usage, number};
use crate::transcript::{Message, Part, Role};

/// Reads a message.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let message = read_turn(lifter, root, root.get("content"), Role::Assistant);
    let reason = root.get("stop_reason").and_then(|reason| reason.str());
    let usage = root.get("usage").filter(|usage| !usage.is_null()).map(usage_of);
    (vec![message], stop_of(reason.as_ref()), usage)
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(reason: Option<&Str<'_>>) -> Stop {
    match reason.map(Str::decode).as_deref() {
        Some("tool_use") => Stop::Calls,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("stop_sequence") => Stop::Sequence,
        Some("refusal") => Stop::Refused,
        _ => Stop::End,
    }
}

/// Returns this wire's name for the reason.
pub(super) const fn stop_reason(stop: Stop, calls: bool) -> &'static str {
    match stop {
        Stop::Length => "max_tokens",
        _ if calls => "tool_use",
        Stop::End | Stop::Calls => "end_turn",
        Stop::Sequence => "stop_sequence",
        Stop::Refused => "refusal",
    }
}

/// Reads the token usage.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    let cache_read = number(usage, &["cache_read_input_tokens"]);
    let cache_write = number(usage, &["cache_creation_input_tokens"]);
    Usage {
        // On this wire, `input_tokens` counts only the tokens that missed the cache.
        input: number(usage, &["input_tokens"]) + cache_read + cache_write,
        output: number(usage, &["output_tokens"]),
        cache_read,
        cache_write,
        reasoning: 0,
    }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!(
        "{{\"input_tokens\":{},\"output_tokens\":{},\"cache_read_input_tokens\":{},\
         \"cache_creation_input_tokens\":{}}}",
        usage.input.saturating_sub(usage.cache_read + usage.cache_write),
        usage.output,
        usage.cache_read,
        usage.cache_write
    )
}

/// Writes a message.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        out.json("{\"type\":\"error\",\"error\":{\"type\":");
        out.string(&failure.kind.clone().unwrap_or(Str::plain("api_error")));
        out.json(",\"message\":").string(&failure.message).json("}}");
        return out.finish();
    }
    out.json("{\"id\":").string(&reply.id.clone().unwrap_or(Str::plain("")));
    out.json(",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
    out.string(&reply.model.clone().unwrap_or(Str::plain(""))).json(",\"content\":");
    // Always a list, because clients of this wire iterate over it.
    match reply.message().parts.as_slice() {
        [Part::Text(only)] if only.text.is_empty() => {
            out.json("[]");
        }
        [Part::Text(only)] => {
            out.json("[{\"type\":\"text\",\"text\":").string(&only.text).json("}]");
        }
        _ => content(writer, &mut out, reply.message()),
    }
    let reason = stop_reason(reply.stop, reply.calls());
    out.json(",\"stop_reason\":").quoted(reason).json(",\"stop_sequence\":null,\"usage\":");
    out.json(&usage_json(&reply.usage.unwrap_or_default())).json("}");
    out.finish()
}
