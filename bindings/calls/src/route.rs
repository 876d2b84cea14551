//! The meaning of the path of a request.

use photic::wire::TurnPath;
use serde_json::json;

/// Returns the wire, the model and the host whose profile applies, as JSON, for the path that a
/// request is posted to. Returns `None` if no conversation is posted there.
pub fn route(path: &str, host: &str) -> Option<String> {
    let turn = TurnPath::read(path)?;
    let host = turn.profile_host.unwrap_or(host);
    Some(json!({"wire": turn.wire, "model": turn.params.model, "host": host}).to_string())
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
