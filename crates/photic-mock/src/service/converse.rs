//! Replies of `converse` and `converse-stream`.

use photic::Wire;
use photic_testkit::crc32;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::Service;
use crate::rejection::{Rejection, invalid};
use crate::reply::{Reply, ReplyContent};

/// The service of `Converse`.
pub(super) struct Converse;

impl Service for Converse {
    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        events(reply)
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        let says = match violation.code {
            "image_invalid" | "base64_invalid" => {
                "The model returned the following errors: Could not process image"
            }
            _ => &violation.text,
        };
        invalid(wire, violation, "ValidationException", says)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    let content = match &reply.said {
        ReplyContent::Text(text) => vec![json!({"text": text})],
        ReplyContent::Calls(calls) => {
            let call = |call: &crate::reply::Call| {
                let (id, name, input) = (&call.id, &call.name, &call.arguments);
                json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
            };
            calls.iter().map(call).collect()
        }
    };
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop(reply),
        "usage": usage(reply),
        "metrics": {"latencyMs": 1},
    })
}

/// The events, each in a frame of its own.
fn events(reply: &Reply) -> Vec<Vec<u8>> {
    let mut events = vec![frame("messageStart", &json!({"role": "assistant"}))];
    let delta = |index: usize, delta: Value| {
        frame("contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta}))
    };
    let stop = |index: usize| frame("contentBlockStop", &json!({"contentBlockIndex": index}));
    match &reply.said {
        ReplyContent::Text(text) => {
            events.extend(ReplyContent::pieces(text).map(|piece| delta(0, json!({"text": piece}))));
            events.push(stop(0));
        }
        ReplyContent::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let start = json!({"toolUse": {"toolUseId": call.id, "name": call.name}});
                let start = json!({"contentBlockIndex": index, "start": start});
                events.push(frame("contentBlockStart", &start));
                let arguments = call.arguments.to_string();
                let pieces = ReplyContent::pieces(&arguments);
                events
                    .extend(pieces.map(|piece| delta(index, json!({"toolUse": {"input": piece}}))));
                events.push(stop(index));
            }
        }
    }
    events.push(frame("messageStop", &json!({"stopReason": self::stop(reply)})));
    let metadata = json!({"usage": usage(reply), "metrics": {"latencyMs": 1}});
    events.push(frame("metadata", &metadata));
    events
}

/// The stop reason.
fn stop(reply: &Reply) -> &'static str {
    match reply.said {
        ReplyContent::Text(_) => "end_turn",
        ReplyContent::Calls(_) => "tool_use",
    }
}

/// The usage.
fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "inputTokens": usage.input - usage.cached - usage.written,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokens": usage.written,
    })
}

/// A message of an AWS event stream, with both checksums.
pub(crate) fn frame(name: &str, payload: &Value) -> Vec<u8> {
    let payload = payload.to_string().into_bytes();
    let mut headers = Vec::new();
    for (header, value) in
        [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")]
    {
        headers.push(header.len() as u8);
        headers.extend_from_slice(header.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&(value.len() as u16).to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let length = (16 + headers.len() + payload.len()) as u32;
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    frame.extend_from_slice(&crc32(&[&frame]).to_be_bytes());
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(&payload);
    frame.extend_from_slice(&crc32(&[&frame]).to_be_bytes());
    frame
}
