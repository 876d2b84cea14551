//! Replies of `generateContent` and `streamGenerateContent`.

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

use super::definition::{Service, ServiceFacts, bytes};
use crate::rejection::{Rejection, invalid};
use crate::reply::{Reply, ReplyContent};

/// The service of `generateContent`.
pub(super) struct Gemini;

impl Service for Gemini {
    fn facts(&self) -> ServiceFacts {
        ServiceFacts { list: "contents", ..ServiceFacts::default() }
    }

    fn whole(&self, reply: &Reply) -> Value {
        whole(reply)
    }

    fn events(&self, reply: &Reply) -> Vec<Vec<u8>> {
        bytes(events(reply))
    }

    fn violation(&self, wire: Wire, violation: &Violation) -> Rejection {
        let says = match violation.code {
            "image_invalid" | "base64_invalid" | "media_type_mismatch" => {
                "Unable to process input image. Please retry or report in \
                 https://developers.generativeai.google/guide/troubleshooting"
                    .to_owned()
            }
            "unknown_field" | "unknown_part" => {
                let name = violation.pointer.rsplit('/').next().unwrap_or_default();
                format!(
                    "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
                )
            }
            _ => violation.text.clone(),
        };
        invalid(wire, violation, "INVALID_ARGUMENT", &says)
    }
}

/// The reply as one document.
fn whole(reply: &Reply) -> Value {
    response(reply, &parts(reply), Some("STOP"))
}

/// The chunks, each a response; the last one has the finish reason.
fn events(reply: &Reply) -> Vec<String> {
    let parts = match &reply.said {
        ReplyContent::Text(text) => {
            ReplyContent::pieces(text).map(|piece| json!({"text": piece})).collect()
        }
        ReplyContent::Calls(_) => parts(reply),
    };
    let last = parts.len().saturating_sub(1);
    let chunk = |(index, part): (usize, Value)| {
        let reason = (index == last).then_some("STOP");
        format!("data: {}\r\n\r\n", response(reply, &[part], reason))
    };
    parts.into_iter().enumerate().map(chunk).collect()
}

/// The parts. Calls have no ID: clients of this API identify them by name.
fn parts(reply: &Reply) -> Vec<Value> {
    match &reply.said {
        ReplyContent::Text(text) => vec![json!({"text": text})],
        ReplyContent::Calls(calls) => {
            let call = |call: &crate::reply::Call| {
                json!({"functionCall": {"name": call.name, "args": call.arguments},
                    "thoughtSignature": "bW9jaw=="})
            };
            calls.iter().map(call).collect()
        }
    }
}

/// A response with some parts.
fn response(reply: &Reply, parts: &[Value], reason: Option<&str>) -> Value {
    let usage = &reply.usage;
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": reply.model,
        "responseId": format!("mock{:08}", reply.number),
    })
}
