//! Replies of `Converse`.

use super::lift::read_turn;
use super::lower::content;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::Writer;
use crate::reply::{Reply, Stop, Usage, number};
use crate::transcript::{Message, Role};

/// Reads a reply.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let message = root.get("output").and_then(|output| output.get("message"));
    let messages = message
        .map(|message| read_turn(lifter, message, message.get("content"), Role::Assistant))
        .into_iter()
        .collect();
    let reason = root.get("stopReason").and_then(|reason| reason.str());
    (messages, stop_of(reason.as_ref()), root.get("usage").map(usage_of))
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(reason: Option<&Str<'_>>) -> Stop {
    match reason.map(Str::decode).as_deref() {
        Some("tool_use") => Stop::Calls,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("stop_sequence") => Stop::Sequence,
        Some("guardrail_intervened" | "content_filtered") => Stop::Refused,
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
        Stop::Refused => "content_filtered",
    }
}

/// Reads the token usage.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    let cache_read = number(usage, &["cacheReadInputTokens"]);
    let cache_write = number(usage, &["cacheWriteInputTokens"]);
    Usage {
        // On this wire, `inputTokens` counts only the tokens that missed the cache.
        input: number(usage, &["inputTokens"]) + cache_read + cache_write,
        output: number(usage, &["outputTokens"]),
        cache_read,
        cache_write,
        reasoning: 0,
    }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!(
        "{{\"inputTokens\":{},\"outputTokens\":{},\"totalTokens\":{},\
         \"cacheReadInputTokens\":{},\"cacheWriteInputTokens\":{}}}",
        usage.input.saturating_sub(usage.cache_read + usage.cache_write),
        usage.output,
        usage.input + usage.output,
        usage.cache_read,
        usage.cache_write
    )
}

/// Writes a reply.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        out.json("{\"message\":").string(&failure.message).json("}");
        return out.finish();
    }
    out.json("{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":");
    content(writer, &mut out, reply.message());
    let reason = stop_reason(reply.stop, reply.calls());
    out.json("}},\"stopReason\":").quoted(reason).json(",\"usage\":");
    out.json(&usage_json(&reply.usage.unwrap_or_default()));
    out.json(",\"metrics\":{\"latencyMs\":0}}");
    out.finish()
}
