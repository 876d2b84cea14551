//! Replies of `POST /v1/responses`.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::{Service, ServiceFacts, named};
use crate::rejection::{Rejection, openai};
use crate::reply::{Reply, ReplyContent};
use crate::stored::{ExpandedBody, StoredConversations};

/// The service of the Responses API.
pub(super) struct Responses;

impl Service for Responses {
    fn facts(&self) -> ServiceFacts {
        ServiceFacts { list: "input", ..ServiceFacts::default() }
    }

    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        named(events(reply))
    }

    fn kept(&self, reply: &Reply) -> (String, Vec<Value>) {
        (id(reply), output(reply))
    }

    fn expand(
        &self,
        stored: &StoredConversations,
        body: &mut Value,
    ) -> Result<ExpandedBody, Rejection> {
        stored.response(body)
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        openai::rejection(wire, violation)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    response(reply, "completed", &json!(output(reply)), &usage(reply))
}

/// The ID under which the reply is kept.
fn id(reply: &Reply) -> String {
    format!("resp_mock{:08}", reply.number)
}

/// The items of the reply, as stored and as a client sends them back.
fn output(reply: &Reply) -> Vec<Value> {
    match &reply.said {
        ReplyContent::Text(text) => {
            let part =
                json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
            vec![json!({
                "id": format!("msg_mock{:08}", reply.number),
                "type": "message",
                "status": "completed",
                "content": [part],
                "role": "assistant",
            })]
        }
        ReplyContent::Calls(calls) => {
            let item = |(index, call): (usize, &crate::reply::Call)| {
                json!({
                    "id": format!("fc_mock{:08}_{index}", reply.number),
                    "type": "function_call",
                    "status": "completed",
                    "arguments": call.arguments.to_string(),
                    "call_id": call.id,
                    "name": call.name,
                })
            };
            calls.iter().enumerate().map(item).collect()
        }
    }
}

/// The events of a stream.
fn events(reply: &Reply) -> Vec<Value> {
    let begun = response(reply, "in_progress", &json!([]), &Value::Null);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in output(reply).iter().enumerate() {
        let is_call = item["type"] == "function_call";
        if is_call {
            call(&mut events, index, item);
        } else {
            message(&mut events, index, item);
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    events.push(json!({"type": "response.completed", "response": whole(reply)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

/// The events of a call.
fn call(events: &mut Vec<Value>, index: usize, item: &Value) {
    let mut begun = item.clone();
    begun["arguments"] = json!("");
    begun["status"] = json!("in_progress");
    events
        .push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
    for piece in ReplyContent::pieces(item["arguments"].as_str().unwrap_or_default()) {
        events.push(json!({
            "type": "response.function_call_arguments.delta",
            "item_id": item["id"],
            "output_index": index,
            "delta": piece,
        }));
    }
    events.push(json!({
        "type": "response.function_call_arguments.done",
        "item_id": item["id"],
        "output_index": index,
        "name": item["name"],
        "arguments": item["arguments"],
    }));
}

/// The events of a message.
fn message(events: &mut Vec<Value>, index: usize, item: &Value) {
    let part = &item["content"][0];
    let text = part["text"].as_str().unwrap_or_default();
    let mut empty = part.clone();
    empty["text"] = json!("");
    let mut begun = item.clone();
    begun["content"] = json!([]);
    begun["status"] = json!("in_progress");
    events
        .push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
    let mut at = |kind: &str, key: &str, value: Value| {
        let mut event = json!({
            "type": kind,
            "item_id": item["id"],
            "output_index": index,
            "content_index": 0,
        });
        event[key] = value;
        if kind.starts_with("response.output_text") {
            event["logprobs"] = json!([]);
        }
        events.push(event);
    };
    at("response.content_part.added", "part", empty);
    for piece in ReplyContent::pieces(text) {
        at("response.output_text.delta", "delta", json!(piece));
    }
    at("response.output_text.done", "text", json!(text));
    at("response.content_part.done", "part", part.clone());
}

/// A response.
fn response(reply: &Reply, status: &str, output: &Value, usage: &Value) -> Value {
    // Values of the request are echoed; missing ones have a default.
    let echo = |key: &str, default: Value| match &reply.asked[key] {
        Value::Null => default,
        value => value.clone(),
    };
    json!({
        "id": id(reply),
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": echo("instructions", Value::Null),
        "max_output_tokens": echo("max_output_tokens", Value::Null),
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": echo("parallel_tool_calls", json!(true)),
        "previous_response_id": echo("previous_response_id", Value::Null),
        "reasoning": {"effort": null, "summary": null},
        "service_tier": "default",
        "store": echo("store", json!(true)),
        "temperature": echo("temperature", json!(1.0)),
        "text": echo("text", json!({"format": {"type": "text"}})),
        "tool_choice": echo("tool_choice", json!("auto")),
        "tools": echo("tools", json!([])),
        "top_p": echo("top_p", json!(1.0)),
        "truncation": echo("truncation", json!("disabled")),
        "usage": usage,
        "user": null,
        "metadata": echo("metadata", json!({})),
    })
}

/// The usage.
fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    })
}
