//! The meaning of the path of a request.

use photic::Wire;
use photic::wire::{Envelope, PathParams, Purpose};
use serde_json::json;

/// Returns the wire, the model and the host whose profile applies, as JSON, for the path that a
/// request is posted to. Returns `None` if no conversation is posted there.
pub fn route(path: &str, host: &str) -> Option<String> {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let path = without_version(path.strip_suffix('/').unwrap_or(path));
    let (wire, params, of_envelope) = turn(path)?;
    let host = of_envelope.unwrap_or(host);
    Some(json!({"wire": wire, "model": params.model, "host": host}).to_string())
}

/// Returns the wire of a path, the parameters in it, and the host that its envelope names.
fn turn(path: &str) -> Option<(Wire, PathParams, Option<&'static str>)> {
    let unversioned =
        |wire: &Wire| wire.http().unversioned.iter().any(|start| path.starts_with(start));
    let is_complete = Wire::ALL.iter().any(unversioned);
    // Some wires read their own path behind any prefix. A prefix is a matter of the envelope.
    for wire in Wire::ALL {
        if !wire.names_model() && !is_complete {
            continue;
        }
        if let Some(params) = wire.parse_path(path) {
            return Some((wire, params, None));
        }
    }
    let (envelope, params) = Envelope::of_path(path)?;
    let is_turn = envelope.purpose == Purpose::Turn;
    is_turn.then_some((envelope.wire, params, envelope.profile_host.as_deref()))
}

/// Removes `/v1` from the beginning of a path. Some clients count it to the base URL, others do not.
fn without_version(path: &str) -> &str {
    match path.strip_prefix("/v1") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_conversations() {
        for (path, wire, model) in [
            ("/v1/chat/completions", "openai-chat", None),
            ("/openai/v1/chat/completions?api-version=1", "openai-chat", None),
            ("/v1/responses", "openai-responses", None),
            ("/anthropic/v1/messages", "anthropic", None),
            ("/model/a.b-v1%3A0/converse", "bedrock-converse", Some("a.b-v1:0")),
            ("/model/a.b-v1%3A0/invoke", "anthropic", Some("a.b-v1:0")),
            ("/v1beta/models/g:streamGenerateContent", "gemini", Some("g")),
            ("/api/chat", "ollama", None),
        ] {
            let route: serde_json::Value =
                serde_json::from_str(&route(path, "h").expect(path)).unwrap();
            assert_eq!((route["wire"].as_str(), route["model"].as_str()), (Some(wire), model));
        }
        for path in ["/v1/models", "/v1/embeddings", "/v1/files", "/v1/messages/batches", "/"] {
            assert_eq!(route(path, "h"), None, "{path}");
        }
    }
}
