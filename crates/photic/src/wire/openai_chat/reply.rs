//! Replies of Chat Completions.

use super::lift::read_message;
use super::lower::unit;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::Writer;
use crate::reply::{Failure, Reply, Stop, Usage, number};
use crate::transcript::Message;

/// Reads a completion: the first choice.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let choice = root.get("choices").and_then(|choices| choices.items().next());
    let messages = choice
        .and_then(|choice| choice.get("message"))
        .map(|message| read_message(lifter, message))
        .into_iter()
        .collect();
    let reason = choice.and_then(|choice| choice.get("finish_reason")?.str());
    let usage = root.get("usage").filter(|usage| !usage.is_null()).map(usage_of);
    (messages, stop_of(reason.as_ref()), usage)
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(reason: Option<&Str<'_>>) -> Stop {
    match reason.map(Str::decode).as_deref() {
        Some("tool_calls" | "function_call") => Stop::Calls,
        Some("length") => Stop::Length,
        Some("content_filter") => Stop::Refused,
        _ => Stop::End,
    }
}

/// Returns this wire's name for the reason.
pub(super) const fn finish_reason(stop: Stop, calls: bool) -> &'static str {
    match stop {
        Stop::Length => "length",
        _ if calls => "tool_calls",
        Stop::End | Stop::Sequence | Stop::Calls => "stop",
        Stop::Refused => "content_filter",
    }
}

/// Reads the token usage.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    Usage {
        input: number(usage, &["prompt_tokens"]),
        output: number(usage, &["completion_tokens"]),
        cache_read: number(usage, &["prompt_tokens_details", "cached_tokens"]),
        cache_write: number(usage, &["prompt_tokens_details", "cache_write_tokens"]),
        reasoning: number(usage, &["completion_tokens_details", "reasoning_tokens"]),
    }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!(
        "{{\"prompt_tokens\":{},\"completion_tokens\":{},\"total_tokens\":{},\
         \"prompt_tokens_details\":{{\"cached_tokens\":{},\"cache_write_tokens\":{}}},\
         \"completion_tokens_details\":{{\"reasoning_tokens\":{}}}}}",
        usage.input,
        usage.output,
        usage.input + usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.reasoning
    )
}

/// Writes a completion.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        error(&mut out, failure);
        return out.finish();
    }
    out.json("{\"id\":").string(&reply.id.clone().unwrap_or(Str::plain("")));
    out.json(",\"object\":\"chat.completion\",\"created\":")
        .json(&reply.created.unwrap_or(0).to_string());
    out.json(",\"model\":").string(&reply.model.clone().unwrap_or(Str::plain("")));
    out.json(",\"choices\":[{\"index\":0,\"message\":");
    let mut message = Out::new();
    unit(writer, &mut message, reply.message());
    let message = message.finish();
    if message.is_empty() {
        out.json("{\"role\":\"assistant\",\"content\":\"\"}");
    } else {
        out.fragment(message);
    }
    let reason = finish_reason(reply.stop, reply.calls());
    out.json(",\"logprobs\":null,\"finish_reason\":").quoted(reason).json("}]");
    if let Some(usage) = &reply.usage {
        out.json(",\"usage\":").json(&usage_json(usage));
    }
    out.json("}");
    out.finish()
}

/// Writes an error in the form that both wires of this provider share.
pub(crate) fn error<'a>(out: &mut Out<'a>, failure: &Failure<'a>) {
    out.json("{\"error\":{\"message\":").string(&failure.message).json(",\"type\":");
    out.string(&failure.kind.clone().unwrap_or(Str::plain("api_error")));
    out.json(",\"param\":null,\"code\":null}}");
}
