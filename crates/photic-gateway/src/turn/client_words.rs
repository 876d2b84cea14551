//! Error messages in the words that a client's own recovery matches.
//!
//! The clients and their words are data (`data/clients.toml`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::HeaderMap;
use http::header::USER_AGENT;
use photic::Wire;
use photic::rejection::{Class, Rejection, classify};
use serde::Deserialize;

static CLIENTS: LazyLock<Vec<KnownClient>> = LazyLock::new(|| {
    let file = toml::from_str::<File>(include_str!("../../data/clients.toml"));
    file.map(|file| file.client).unwrap_or_default()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "as_of")]
    _as_of: String,
    client: Vec<KnownClient>,
}

/// A client that recovers from rejections by itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownClient {
    #[serde(rename = "name")]
    _name: String,
    user_agent: String,
    wire: Wire,
    says: String,
    classes: BTreeMap<Class, Names>,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "confidence")]
    _confidence: String,
}

/// The request of a client that recovers by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovering {
    pub(super) client: &'static KnownClient,
    /// Set if the request showed images or documents when it was sent first.
    pub(super) shows_media: bool,
}

/// The client's names for a class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    /// If it is about an image.
    image: Option<String>,
    /// If it is about a document.
    document: Option<String>,
    /// If the request showed neither.
    text: Option<String>,
}

/// Returns the client that sent a request, if it is one that recovers by itself.
pub(super) fn client(wire: Wire, headers: &HeaderMap) -> Option<&'static KnownClient> {
    let agent = headers.get(USER_AGENT)?.to_str().ok()?;
    CLIENTS
        .iter()
        .find(|client| client.wire == wire && agent.starts_with(client.user_agent.as_str()))
}

impl KnownClient {
    /// Returns the message of an error in the client's words, if it has words for it. `shows_media`
    /// says that the request had images or documents.
    pub(super) fn message(&self, status: u16, answer: &str, shows_media: bool) -> Option<String> {
        let rejection = classify(Some(status), answer);
        let names = self.classes.get(&rejection.class)?;
        let class = match (shows_media, is_about_documents(&rejection)) {
            (false, _) => &names.text,
            (true, true) => &names.document,
            (true, false) => &names.image,
        };
        Some(self.says.replace("{class}", class.as_ref()?))
    }
}

/// Returns `true` if a rejection names documents, and no images.
fn is_about_documents(rejection: &Rejection) -> bool {
    let text = rejection.text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    says(&["pdf", "document"]) && !says(&["image"])
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn every_client_is_read() {
        assert_eq!(CLIENTS.len(), 1, "the data could not be read");
    }

    #[test]
    fn rejections_are_said_in_the_words_of_claude_code() {
        let mut headers = HeaderMap::new();
        assert!(client(Wire::Anthropic, &headers).is_none());
        headers.insert(USER_AGENT, HeaderValue::from_static("claude-cli/2.1.326 (external, cli)"));
        assert!(client(Wire::OpenAiChat, &headers).is_none());
        let claude = client(Wire::Anthropic, &headers).unwrap();
        let overflow = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages.";
        for (status, answer, with_media, with_text) in [
            (400, "At most 4 image(s) may be provided in one prompt.", Some("media_budget"), None),
            (413, "", Some("media_budget"), Some("prompt_too_long")),
            (400, "This model does not support image inputs.", Some("image_block"), None),
            (400, "The PDF specified was not valid.", Some("document_block"), None),
            (400, overflow, Some("prompt_too_long"), Some("prompt_too_long")),
            (429, "rate limit reached", None, None),
            (400, "unknown tool", None, None),
        ] {
            let body = format!("{{\"error\":{{\"message\":\"{answer}\"}}}}");
            for (shows_media, expected) in [(true, with_media), (false, with_text)] {
                let said = claude.message(status, &body, shows_media);
                let expected = expected.map(|class| format!("capability_rejected: {class}"));
                assert_eq!(said, expected, "{answer}");
            }
        }
    }
}
