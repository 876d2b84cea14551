//! The test endpoint that shows how content is marked before a model reads it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::exchange::Answer;
use crate::failure::Failure;
use crate::untrusted::Mark;

/// Content to put into a prompt.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenwopRequest {
    content_trust: Option<String>,
    event_type: Option<String>,
    source: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, Value>,
    /// Distinguished from `null`, which is valid content.
    #[serde(default, deserialize_with = "there")]
    payload: Option<Value>,
}

/// Answers with the prompt.
pub(crate) fn wrap(body: &[u8]) -> Result<Answer, Failure> {
    let asked: OpenwopRequest =
        serde_json::from_slice(body).map_err(|error| Failure::unreadable("prompt", &error))?;
    let payload = asked.payload.ok_or_else(|| Failure::invalid("`payload` is missing"))?;
    let text = match payload {
        Value::String(text) => text,
        other => format!("{other:#}"),
    };
    let prompt = match asked.content_trust.as_deref() {
        // Missing trust means untrusted everywhere but here, because the test suite of this
        // endpoint demands it.
        None | Some("trusted") => text,
        Some(_) => {
            let source = asked.source.as_deref().unwrap_or("run-event");
            let kind = asked.event_type.as_deref().unwrap_or("unknown");
            let attributes = asked.attributes.into_iter();
            let attributes = attributes.filter_map(|(name, value)| Some((name, plain(&value)?)));
            Mark { attributes: attributes.collect(), ..Mark::new(source, kind) }.wrap(&text)
        }
    };
    Ok(Answer::json(200, &json!({"prompt": prompt})))
}

/// Returns a value that can be an attribute.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}
