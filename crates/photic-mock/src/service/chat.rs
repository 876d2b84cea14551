//! Replies of `POST /v1/chat/completions`.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::{Service, ServiceFacts, bytes};
use crate::rejection::{Rejection, openai};
use crate::reply::{Call, Reply, ReplyContent};

/// The service of Chat Completions.
pub(super) struct Chat;

impl Service for Chat {
    fn facts(&self) -> ServiceFacts {
        ServiceFacts { lenient_messages: true, media_in_results: true, ..ServiceFacts::default() }
    }

    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        bytes(events(reply))
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        openai::rejection(wire, violation)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    let mut message =
        json!({"role": "assistant", "content": null, "refusal": null, "annotations": []});
    let finish = match &reply.said {
        ReplyContent::Text(text) => {
            message["content"] = json!(text);
            "stop"
        }
        ReplyContent::Calls(calls) => {
            message["tool_calls"] = calls.iter().map(|one| call(reply, one)).collect();
            "tool_calls"
        }
    };
    json!({
        "id": id(reply),
        "object": "chat.completion",
        "created": reply.created,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
        "usage": usage(reply),
        "service_tier": "default",
        "system_fingerprint": "fp_mock",
    })
}

/// The chunks and the final marker. Usage comes only if requested, in a chunk of its own; then all
/// other chunks have a null usage.
fn events(reply: &Reply) -> Vec<String> {
    let usage = reply.asked["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, tokens: Value| {
        let mut chunk = json!({
            "id": id(reply),
            "object": "chat.completion.chunk",
            "created": reply.created,
            "model": reply.model,
            "service_tier": "default",
            "system_fingerprint": "fp_mock",
            "choices": choices,
        });
        if usage {
            chunk["usage"] = tokens;
        }
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: Value, finish: Value| {
        let choice =
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        chunk(choice, Value::Null)
    };
    let mut events = Vec::new();
    let finish = match &reply.said {
        ReplyContent::Text(text) => {
            let first = json!({"role": "assistant", "content": "", "refusal": null});
            events.push(choice(first, Value::Null));
            let pieces = ReplyContent::pieces(text);
            events.extend(pieces.map(|piece| choice(json!({"content": piece}), Value::Null)));
            "stop"
        }
        ReplyContent::Calls(calls) => {
            let first = json!({"role": "assistant", "content": null, "refusal": null});
            events.push(choice(first, Value::Null));
            for (index, each) in calls.iter().enumerate() {
                let mut begun = call(reply, each);
                if is_mistral(&reply.model) {
                    begun["index"] = json!(index);
                    events.push(choice(json!({"tool_calls": [begun]}), Value::Null));
                    continue;
                }
                let arguments = begun["function"]["arguments"].take();
                begun["function"]["arguments"] = json!("");
                begun["index"] = json!(index);
                events.push(choice(json!({"tool_calls": [begun]}), Value::Null));
                for piece in ReplyContent::pieces(arguments.as_str().unwrap_or_default()) {
                    let more = json!({"index": index, "function": {"arguments": piece}});
                    events.push(choice(json!({"tool_calls": [more]}), Value::Null));
                }
            }
            "tool_calls"
        }
    };
    events.push(choice(json!({}), json!(finish)));
    if usage {
        events.push(chunk(json!([]), self::usage(reply)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

/// Returns `true` for models of Mistral, whose service streams calls as a whole, with IDs of nine
/// characters.
fn is_mistral(model: &str) -> bool {
    ["mistral", "magistral", "pixtral", "ministral", "codestral", "devstral"]
        .iter()
        .any(|name| model.starts_with(name))
}

/// The ID of the reply.
fn id(reply: &Reply) -> String {
    format!("chatcmpl-mock{:08}", reply.number)
}

/// A tool call.
fn call(reply: &Reply, call: &Call) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
    let mut id = call.id.clone();
    if is_mistral(&reply.model) {
        id.retain(|letter| letter.is_ascii_alphanumeric());
        id.drain(..id.len().saturating_sub(9));
    }
    json!({"id": id, "type": "function", "function": function})
}

/// The usage.
fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached,
            "audio_tokens": 0,
            "image_tokens": usage.images,
            "text_tokens": usage.input - usage.images,
        },
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
