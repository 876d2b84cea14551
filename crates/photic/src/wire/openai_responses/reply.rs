//! Replies of Responses.

use super::lift::read_item;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::Writer;
use crate::reply::{Reply, Stop, Usage, number};
use crate::transcript::{Arguments, Message, Part};
use crate::wire::openai_chat::error;

/// Reads a response.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let messages: Vec<_> = root
        .get("output")
        .into_iter()
        .flat_map(Value::items)
        .map(|item| read_item(lifter, item))
        .collect();
    let calls = messages.iter().any(|message| message.calls().next().is_some());
    let usage = root.get("usage").filter(|usage| !usage.is_null()).map(usage_of);
    (messages, stop_of(root, calls), usage)
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(response: Value<'_, '_>, calls: bool) -> Stop {
    let cut = response.get("incomplete_details").and_then(|details| details.get("reason")?.str());
    match cut.as_ref().map(Str::decode).as_deref() {
        Some("max_output_tokens") => Stop::Length,
        Some("content_filter") => Stop::Refused,
        _ if calls => Stop::Calls,
        _ => Stop::End,
    }
}

/// Reads the token usage.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    Usage {
        input: number(usage, &["input_tokens"]),
        output: number(usage, &["output_tokens"]),
        cache_read: number(usage, &["input_tokens_details", "cached_tokens"]),
        cache_write: number(usage, &["input_tokens_details", "cache_write_tokens"]),
        reasoning: number(usage, &["output_tokens_details", "reasoning_tokens"]),
    }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!(
        "{{\"input_tokens\":{},\"input_tokens_details\":{{\"cached_tokens\":{},\"cache_write_tokens\":{}}},\
         \"output_tokens\":{},\"output_tokens_details\":{{\"reasoning_tokens\":{}}},\
         \"total_tokens\":{}}}",
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        usage.input + usage.output
    )
}

/// Writes a response.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        error(&mut out, failure);
        return out.finish();
    }
    let id = reply.id.clone().unwrap_or(Str::plain(""));
    out.json("{\"id\":").string(&id);
    out.json(",\"object\":\"response\",\"created_at\":")
        .json(&reply.created.unwrap_or(0).to_string());
    let cut = match reply.stop {
        Stop::Length => Some("max_output_tokens"),
        Stop::Refused => Some("content_filter"),
        Stop::End | Stop::Calls | Stop::Sequence => None,
    };
    match cut {
        Some(reason) => {
            out.json(",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":")
                .quoted(reason)
                .json("}");
        }
        None => {
            out.json(",\"status\":\"completed\",\"incomplete_details\":null");
        }
    }
    out.json(",\"error\":null,\"model\":").string(&reply.model.clone().unwrap_or(Str::plain("")));
    out.json(",\"output\":[");
    let said = reply.message().parts.iter().filter(|part| match part {
        Part::Text(text) | Part::Refusal(text) => !text.text.is_empty(),
        _ => false,
    });
    let said: Vec<_> = said.collect();
    if !said.is_empty() {
        out.json("{\"type\":\"message\",\"id\":\"msg_").inside(&id);
        out.json("\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[");
        for part in said {
            match part {
                Part::Text(text) => out
                    .comma()
                    .json("{\"type\":\"output_text\",\"text\":")
                    .string(&text.text)
                    .json(",\"annotations\":[]}"),
                Part::Refusal(text) => out
                    .comma()
                    .json("{\"type\":\"refusal\",\"refusal\":")
                    .string(&text.text)
                    .json("}"),
                _ => &mut out,
            };
        }
        out.json("]}");
    }
    for call in reply.message().calls() {
        let call_id = &call.id;
        let free = match &call.arguments {
            Arguments::Free(text) if writer.restores_calls => Some(text),
            _ => None,
        };
        out.comma().json(match free {
            Some(_) => "{\"type\":\"custom_tool_call\",\"id\":\"ctc_",
            None => "{\"type\":\"function_call\",\"id\":\"fc_",
        });
        out.inside(call_id).json("\",\"status\":\"completed\",\"call_id\":").string(call_id);
        out.json(",\"name\":").string(&call.name);
        if let Some(group) = &call.namespace {
            out.json(",\"namespace\":").string(group);
        }
        if let Some(text) = free {
            out.json(",\"input\":").string(text);
        } else {
            out.json(",\"arguments\":");
            call.arguments.as_string(&mut out);
        }
        out.json("}");
    }
    // The settings of the request are not known here, but clients require the fields.
    out.json("],\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\"tools\":[]");
    if let Some(usage) = &reply.usage {
        out.json(",\"usage\":").json(&usage_json(usage));
    }
    out.json("}");
    out.finish()
}
