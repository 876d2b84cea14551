//! Error messages of the Messages API for broken rules.

use photic::Wire;
use photic_testkit::oracle::Violation;

use super::{Rejection, too_many_bytes};

/// Message about supported types.
const TYPES: &str = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";

/// The rejection for a violation.
pub(crate) fn rejection(wire: Wire, violation: &Violation) -> Rejection {
    let (path, text) = (dotted(&violation.pointer), violation.text.as_str());
    let image =
        |field: &str, text: &str| Rejection::invalid(format!("{path}.image.{field}: {text}"));
    match violation.code {
        "body_too_large" => Rejection::too_large(wire),
        "not_json" => Rejection::invalid(format!("The request body is not valid JSON: {text}")),
        "image_too_large" if text.contains("dimensions") => image("source.base64.data", text),
        "image_too_large" => image("source.base64", &too_many_bytes(text)),
        "media_type_unsupported" if text.contains("image") => {
            image("source.base64.media_type", TYPES)
        }
        "media_type_mismatch" => {
            let text = text.split(": it is").next().unwrap_or(text);
            image("source.base64", text)
        }
        "image_invalid" if text.contains("empty") => image("source.base64", text),
        "image_invalid" => image("source.base64.data", "Could not process image"),
        "base64_invalid" => image("source.base64.data", "invalid base64 data"),
        "base64_prefix" => Rejection::invalid(format!("{path}.base64.data: invalid base64 data")),
        "too_many_images" => Rejection::invalid(format!("messages: {text}")),
        "unknown_field" => Rejection::invalid(format!("{path}: Extra inputs are not permitted")),
        "unknown_part" => {
            let name = text.trim_start_matches("Invalid value: ").trim_end_matches('.');
            Rejection::invalid(format!(
                "{path}: Input tag {name} found using 'type' does not match any of the expected \
                 tags: 'document', 'image', 'redacted_thinking', 'search_result', 'text', \
                 'thinking', 'tool_result', 'tool_use'"
            ))
        }
        // The message is about a whole result, wherever the problem is.
        _ if text.starts_with("tool_result: ") => {
            let block = violation.pointer.splitn(6, '/').take(5).collect::<Vec<_>>().join("/");
            Rejection::invalid(format!("{}.{text}", dotted(&block)))
        }
        // These messages name their position themselves.
        _ if path.is_empty() || begins_with_a_path(text) => Rejection::invalid(text),
        _ => Rejection::invalid(format!("{path}: {text}")),
    }
}

/// Returns `true` if a message starts with a path.
fn begins_with_a_path(text: &str) -> bool {
    ["messages: ", "max_tokens: ", "system: "].iter().any(|start| text.starts_with(start))
}

/// `/messages/2/content/0/content/1` as `messages.2.content.0.tool_result.content.1`.
fn dotted(pointer: &str) -> String {
    let mut path: Vec<&str> = Vec::new();
    for step in pointer.split('/').skip(1) {
        if step == "content" && path.len() > 3 {
            path.push("tool_result");
        }
        path.push(step);
    }
    path.join(".")
}
