//! Replies of `POST /v1/messages`.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::{Service, ServiceFacts, named};
use crate::rejection::{Rejection, anthropic};
use crate::reply::{Call, Reply, ReplyContent};
use crate::stored::{ExpandedBody, StoredConversations};

/// The service of the Messages API.
pub(super) struct Messages;

impl Service for Messages {
    fn facts(&self) -> ServiceFacts {
        ServiceFacts { call_prefix: "toolu", cache_marks: Some(4), ..ServiceFacts::default() }
    }

    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        named(events(reply))
    }

    fn kept(&self, reply: &Reply) -> (String, Vec<Value>) {
        (id(reply), vec![turn(reply)])
    }

    fn expand(
        &self,
        stored: &StoredConversations,
        body: &mut Value,
    ) -> Result<ExpandedBody, Rejection> {
        stored.thread(body)
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        anthropic::rejection(wire, violation)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    let mut usage = input(reply);
    usage["output_tokens"] = json!(reply.usage.output);
    message(reply, &content(reply), &json!(stop(reply)), &usage)
}

/// The ID under which the reply is kept.
fn id(reply: &Reply) -> String {
    format!("msg_mock{:08}", reply.number)
}

/// The reply as a message of a later request.
fn turn(reply: &Reply) -> Value {
    json!({"role": "assistant", "content": content(reply)})
}

/// The events of a stream.
fn events(reply: &Reply) -> Vec<Value> {
    let mut usage = input(reply);
    usage["output_tokens"] = json!(1);
    let begun = message(reply, &json!([]), &Value::Null, &usage);
    let mut events = vec![json!({"type": "message_start", "message": begun})];
    let mut block = |index: usize, begun: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        if index == 0 {
            events.push(json!({"type": "ping"}));
        }
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    match &reply.said {
        ReplyContent::Text(text) => {
            let delta = |piece| json!({"type": "text_delta", "text": piece});
            let deltas = ReplyContent::pieces(text).map(delta).collect();
            block(0, json!({"type": "text", "text": ""}), deltas);
        }
        ReplyContent::Calls(calls) => {
            for (index, each) in calls.iter().enumerate() {
                let arguments = each.arguments.to_string();
                let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
                // The service starts with an empty piece.
                let deltas =
                    [""].into_iter().chain(ReplyContent::pieces(&arguments)).map(delta).collect();
                block(index, call(each, &json!({})), deltas);
            }
        }
    }
    let mut usage = input(reply);
    usage["output_tokens"] = json!(reply.usage.output);
    let end = json!({"stop_reason": stop(reply), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// A message.
fn message(reply: &Reply, content: &Value, stop: &Value, usage: &Value) -> Value {
    json!({
        "model": reply.model,
        "id": id(reply),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": usage,
    })
}

/// The content of a message.
fn content(reply: &Reply) -> Value {
    match &reply.said {
        ReplyContent::Text(text) => json!([{"type": "text", "text": text}]),
        ReplyContent::Calls(calls) => {
            calls.iter().map(|each| call(each, &each.arguments)).collect()
        }
    }
}

/// A tool call.
fn call(call: &Call, input: &Value) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

/// The stop reason.
fn stop(reply: &Reply) -> &'static str {
    match reply.said {
        ReplyContent::Text(_) => "end_turn",
        ReplyContent::Calls(_) => "tool_use",
    }
}

/// The input tokens; the service counts cached ones separately.
fn input(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "input_tokens": usage.input - usage.cached - usage.written,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written,
            "ephemeral_1h_input_tokens": 0,
        },
        "service_tier": "standard",
    })
}
