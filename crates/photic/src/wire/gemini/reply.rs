//! Replies of `generateContent`.

use super::lift::read_content;
use super::lower::content;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::{CallIds, Lifter};
use crate::lower::Writer;
use crate::reply::{Failure, Reply, Stop, Usage, call_id, number};
use crate::transcript::{Message, Part, Role};

/// Reads a response: the first candidate.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let candidate = root.get("candidates").and_then(|candidates| candidates.items().next());
    let mut messages: Vec<Message<'a>> = candidate
        .and_then(|candidate| candidate.get("content"))
        .map(|content| read_content(lifter, &mut CallIds::default(), content, Role::Assistant))
        .into_iter()
        .collect();
    let own = root.get("responseId").and_then(|id| id.str()).map(|id| id.decode());
    let own = own.unwrap_or_else(|| String::from_utf8_lossy(root.raw()));
    name_calls(&mut messages, &own, lifter);
    let reason = candidate.and_then(|candidate| candidate.get("finishReason")?.str());
    let usage = root.get("usageMetadata").map(usage_of);
    (messages, stop_of(reason.as_ref()), usage)
}

/// Gives calls that came without an id one that no other reply has.
fn name_calls<'a>(messages: &mut [Message<'a>], own: &str, lifter: &Lifter<'_, 'a>) {
    let mut number = 0;
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Part::Call(call) = part {
            let node = call.node.map(|node| lifter.doc.value(node));
            let named = node.and_then(|part| part.get("functionCall")?.get("id")).is_some();
            if !named {
                call.id = Str::plain(call_id(own, number));
            }
            number += 1;
        }
    }
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(reason: Option<&Str<'_>>) -> Stop {
    match reason.map(Str::decode).as_deref() {
        Some("MAX_TOKENS") => Stop::Length,
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            Stop::Refused
        }
        _ => Stop::End,
    }
}

/// Returns this wire's name for the reason. Calls have none of their own.
pub(super) const fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Length => "MAX_TOKENS",
        Stop::End | Stop::Sequence | Stop::Calls => "STOP",
        Stop::Refused => "SAFETY",
    }
}

/// Reads the token usage.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    let reasoning = number(usage, &["thoughtsTokenCount"]);
    Usage {
        input: number(usage, &["promptTokenCount"]),
        // This wire counts reasoning separately.
        output: number(usage, &["candidatesTokenCount"]) + reasoning,
        cache_read: number(usage, &["cachedContentTokenCount"]),
        cache_write: 0,
        reasoning,
    }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!(
        "{{\"promptTokenCount\":{},\"candidatesTokenCount\":{},\"totalTokenCount\":{},\
         \"cachedContentTokenCount\":{},\"thoughtsTokenCount\":{}}}",
        usage.input,
        usage.output.saturating_sub(usage.reasoning),
        usage.input + usage.output,
        usage.cache_read,
        usage.reasoning
    )
}

/// Writes a response.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        error(&mut out, failure);
        return out.finish();
    }
    out.json("{\"candidates\":[{\"content\":{\"parts\":");
    content(writer, &mut out, reply.message());
    let reason = finish_reason(reply.stop);
    out.json(",\"role\":\"model\"},\"finishReason\":").quoted(reason).json(",\"index\":0}]");
    out.json(",\"usageMetadata\":").json(&usage_json(&reply.usage.unwrap_or_default()));
    out.json(",\"modelVersion\":").string(&reply.model.clone().unwrap_or(Str::plain("")));
    out.json(",\"responseId\":").string(&reply.id.clone().unwrap_or(Str::plain(""))).json("}");
    out.finish()
}

fn error<'a>(out: &mut Out<'a>, failure: &Failure<'a>) {
    let (code, status) = code_of(failure.kind.as_ref().map(Str::decode).as_deref());
    out.json("{\"error\":{\"code\":").json(code).json(",\"message\":").string(&failure.message);
    out.json(",\"status\":").quoted(status).json("}}");
}

/// Returns the status code and name of an error, from the name that other wires have for it.
pub(super) fn code_of(kind: Option<&str>) -> (&'static str, &'static str) {
    match kind {
        Some("invalid_request_error" | "ValidationException" | "INVALID_ARGUMENT") => {
            ("400", "INVALID_ARGUMENT")
        }
        Some("authentication_error") => ("401", "UNAUTHENTICATED"),
        Some("permission_error") => ("403", "PERMISSION_DENIED"),
        Some("not_found_error") => ("404", "NOT_FOUND"),
        Some("rate_limit_error" | "ThrottlingException") => ("429", "RESOURCE_EXHAUSTED"),
        Some("overloaded_error") => ("503", "UNAVAILABLE"),
        _ => ("500", "INTERNAL"),
    }
}
