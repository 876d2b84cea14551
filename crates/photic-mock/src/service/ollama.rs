//! Replies of `/api/chat`.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::{Service, ServiceFacts, bytes};
use crate::rejection::{Rejection, invalid};
use crate::reply::{Reply, ReplyContent};

/// The timestamp of all replies.
const CREATED: &str = "2026-11-16T00:00:00.000000Z";

/// The service of Ollama.
pub(super) struct Ollama;

impl Service for Ollama {
    fn facts(&self) -> ServiceFacts {
        ServiceFacts {
            wants_key: false,
            streams_unasked: true,
            strict: false,
            ..ServiceFacts::default()
        }
    }

    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        bytes(events(reply))
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        let says = match violation.code {
            "image_invalid" => "invalid image input",
            _ => &violation.text,
        };
        invalid(wire, violation, "", says)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    let mut whole = line(reply, &message(reply));
    ended(reply, &mut whole);
    whole
}

/// One line for every piece; the last one has the usage.
fn events(reply: &Reply) -> Vec<String> {
    let mut lines: Vec<Value> = match &reply.said {
        ReplyContent::Text(text) => ReplyContent::pieces(text)
            .map(|piece| line(reply, &json!({"role": "assistant", "content": piece})))
            .collect(),
        ReplyContent::Calls(_) => vec![line(reply, &message(reply))],
    };
    let mut last = line(reply, &json!({"role": "assistant", "content": ""}));
    ended(reply, &mut last);
    lines.push(last);
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// The message.
fn message(reply: &Reply) -> Value {
    match &reply.said {
        ReplyContent::Text(text) => json!({"role": "assistant", "content": text}),
        ReplyContent::Calls(calls) => {
            let call = |call: &crate::reply::Call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "function": function})
            };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": "", "tool_calls": calls})
        }
    }
}

/// One line of a stream.
fn line(reply: &Reply, message: &Value) -> Value {
    json!({"model": reply.model, "created_at": CREATED, "message": message, "done": false})
}

/// Adds the end and the usage to a line.
fn ended(reply: &Reply, line: &mut Value) {
    line["done"] = json!(true);
    line["done_reason"] = json!("stop");
    line["prompt_eval_count"] = json!(reply.usage.input);
    line["eval_count"] = json!(reply.usage.output);
    for name in ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] {
        line[name] = json!(1);
    }
}
