//! Envelopes: paths under which hosts take the bodies of a wire, beside the wire's own path.
//!
//! They are data (`profiles/envelopes.toml`). A path is compared by its end, so that any prefix may
//! come before it: Azure, OpenRouter and other hosts have their own.

use std::sync::LazyLock;

use serde::Deserialize;

use super::http::unescaped;
use super::{PathParams, Wire};

static SHIPPED: &str = include_str!("../../profiles/envelopes.toml");

static TABLE: LazyLock<Table> = LazyLock::new(|| load(SHIPPED).unwrap_or_default());

/// A path under which a host takes the bodies of a wire.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Envelope {
    /// Its unique name.
    pub name: String,
    /// The wire of the body.
    pub wire: Wire,
    /// The end of the path. `{model}` is the model.
    path: String,
    /// The meaning of a request.
    #[serde(default, rename = "use")]
    pub purpose: Purpose,
    served_by: Option<Wire>,
    /// The host whose profile applies, wherever the upstream is.
    pub profile_host: Option<String>,
    /// Set if the path decides whether the reply is streamed. Otherwise the body does.
    pub stream: Option<bool>,
    /// `true` if a streamed reply consists of Amazon frames, each with one event of the wire.
    #[serde(default)]
    pub chunks: bool,
    /// The member of a reply that holds the number of tokens.
    pub count_member: Option<String>,
    /// Members of the body that are headers outside of the envelope. `_` is written `-` there.
    #[serde(default)]
    pub body_headers: Vec<String>,
    /// `true` if the provider has no single host, so that an upstream must be configured.
    #[serde(default)]
    pub no_default: bool,
    as_of: String,
    source: String,
}

/// The meaning of a request to an [`Envelope`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// A turn of a conversation.
    #[default]
    Turn,
    /// The token count of a turn, without its answer.
    CountTokens,
    /// A conversation to be summarized by the server.
    Compact,
    /// A list of turns to be answered later.
    Batch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "envelope")]
    envelopes: Vec<Envelope>,
    other: Others,
}

/// Paths of posts that hold no conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Others {
    paths: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    as_of: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    source: String,
}

impl Envelope {
    /// Returns every envelope.
    pub fn all() -> &'static [Self] {
        &TABLE.envelopes
    }

    /// Returns the envelope of a path without a trailing slash, and the parameters in the path.
    ///
    /// ```
    /// use photic::wire::Envelope;
    ///
    /// let path = "/openai/deployments/gpt-4o/chat/completions";
    /// let (envelope, params) = Envelope::of_path(path).unwrap();
    /// assert_eq!(envelope.wire, photic::Wire::OpenAiChat);
    /// assert_eq!(params.model.as_deref(), Some("gpt-4o"));
    /// assert!(Envelope::of_path("/v1/threads/t/messages").is_none());
    /// ```
    pub fn of_path(path: &str) -> Option<(&'static Self, PathParams)> {
        Self::all().iter().find_map(|envelope| Some((envelope, envelope.parse(path)?)))
    }

    /// Returns the end of its path. `{model}` is the model.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the clients and documents that show it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the wire whose upstreams serve requests in this envelope. Their key, signature and
    /// errors are those of that wire.
    pub fn served_by(&self) -> Wire {
        self.served_by.unwrap_or(self.wire)
    }

    fn parse(&self, path: &str) -> Option<PathParams> {
        let stream = self.stream.unwrap_or_default();
        let Some((before, after)) = self.path.split_once("{model}") else {
            return path.ends_with(&self.path).then_some(PathParams { model: None, stream });
        };
        let (_, model) = path.strip_suffix(after)?.rsplit_once(before)?;
        let is_one = !model.is_empty() && !model.contains('/');
        is_one.then(|| PathParams { model: Some(unescaped(model)), stream })
    }
}

/// Returns `true` if posts to a path are known to hold no conversation, for example `/v1/embeddings`.
pub fn holds_no_conversation(path: &str) -> bool {
    TABLE.other.paths.iter().any(|part| {
        if part.ends_with('/') { path.contains(part.as_str()) } else { path.ends_with(part) }
    })
}

fn load(text: &str) -> Result<Table, toml::de::Error> {
    toml::from_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_complete() {
        let table = load(SHIPPED).unwrap();
        assert!(!table.envelopes.is_empty());
        assert!(!table.other.as_of.is_empty() && !table.other.source.is_empty());
        for (index, envelope) in table.envelopes.iter().enumerate() {
            let name = &envelope.name;
            assert!(envelope.path.starts_with('/'), "{name}");
            assert!(!envelope.as_of.is_empty() && !envelope.source.is_empty(), "{name}");
            let counts = envelope.purpose == Purpose::CountTokens;
            assert_eq!(envelope.count_member.is_some(), counts, "{name}");
            assert!(table.envelopes[..index].iter().all(|other| other.name != *name), "{name}");
        }
    }

    #[test]
    fn paths_of_hosts() {
        for (path, name, model, stream) in [
            ("/openai/deployments/d/chat/completions", "azure-deployment", Some("d"), false),
            ("/openai/v1/chat/completions", "chat-completions", None, false),
            ("/api/v1/chat/completions", "chat-completions", None, false),
            ("/v1beta/openai/chat/completions", "gemini-openai", None, false),
            ("/compatible-mode/v1/chat/completions", "chat-completions", None, false),
            ("/openai/responses", "responses", None, false),
            ("/backend-api/codex/responses", "responses", None, false),
            ("/backend-api/codex/responses/compact", "responses-compact", None, false),
            ("/anthropic/v1/messages", "messages", None, false),
            ("/anthropic/v1/messages/count_tokens", "messages-count-tokens", None, false),
            ("/model/us.a%3A0/invoke", "bedrock-invoke", Some("us.a:0"), false),
            (
                "/model/arn%3Ax%2Fy/invoke-with-response-stream",
                "bedrock-invoke-stream",
                Some("arn:x/y"),
                true,
            ),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/c@1:rawPredict",
                "vertex-raw-predict",
                Some("c@1"),
                false,
            ),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
                "vertex-count-tokens",
                None,
                false,
            ),
            ("/v1beta/models/g:countTokens", "gemini-count-tokens", Some("g"), false),
        ] {
            let (envelope, params) = Envelope::of_path(path).unwrap();
            assert_eq!(envelope.name, name, "{path}");
            assert_eq!(params, PathParams { model: model.map(str::to_owned), stream }, "{path}");
        }
        for path in ["/v1/threads/t/messages", "/v1/embeddings", "/model//invoke", "/responses/r"] {
            assert_eq!(Envelope::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn posts_without_conversations() {
        for path in [
            "/v1/embeddings",
            "/openai/v1/audio/speech",
            "/v1beta/models/g:embedContent",
            "/v1/oauth/token",
        ] {
            assert!(holds_no_conversation(path), "{path}");
        }
        for path in [
            "/v1/threads/t/messages",
            "/v1/completions",
            "/v1beta/interactions",
            "/v1/conversations",
            "/v1/conversations/c/items",
        ] {
            assert!(!holds_no_conversation(path), "{path}");
        }
    }
}
