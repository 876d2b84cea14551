//! Routes: the meaning of a request's method and path. Knows nothing about upstreams.

use http::{HeaderMap, Method};
use photic::Wire;
use photic::wire::PathParams;

use crate::config::Family;

/// The meaning of a request's method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The liveness check of the gateway.
    Health,
    /// The readiness check of the gateway.
    Ready,
    /// The metrics of the gateway.
    Metrics,
    /// The media API of the gateway.
    Media,
    /// The openwop host, if it is enabled.
    Openwop,
    /// A turn of a conversation.
    Turn(Wire),
    /// The token count of a turn, without its answer.
    CountTokens(Wire),
    /// Any other request, passed on unchanged to an upstream of this wire.
    Other(Wire),
}

impl Route {
    /// Returns the route of a request. Where the path is shared by several wires, headers decide.
    pub(crate) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Self {
        Self::by_path(method, path).unwrap_or_else(|| {
            // `/models` is a path of several wires, whose headers differ.
            let tells = |wire: &Wire| {
                wire.http().telling_headers.iter().any(|name| headers.contains_key(*name))
            };
            Self::Other(Wire::ALL.into_iter().find(tells).unwrap_or(Wire::OpenAiChat))
        })
    }

    /// Returns the route of a path alone, or `None` if it is not the path of a single wire.
    pub(crate) fn by_path(method: &Method, path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        if is_openwop(path) {
            return Some(Self::Openwop);
        }
        Some(match (method.as_str(), without_version(path)) {
            ("GET" | "HEAD", "/health") => Self::Health,
            ("GET" | "HEAD", "/ready") => Self::Ready,
            ("GET" | "HEAD", "/metrics") => Self::Metrics,
            (_, path) if path.starts_with("/photic/") => Self::Media,
            ("POST", path) => {
                let find = |is: &dyn Fn(Wire) -> bool| Wire::ALL.into_iter().find(|wire| is(*wire));
                let turn = find(&|wire| wire.parse_path(path).is_some()).map(Self::Turn);
                let count = || find(&|wire| wire.http().count_tokens == Some(path));
                return turn
                    .or_else(|| count().map(Self::CountTokens))
                    .or_else(|| Self::other(path));
            }
            (_, path) => return Self::other(path),
        })
    }

    /// Returns the route of a path below a prefix of a wire.
    fn other(path: &str) -> Option<Self> {
        let is_below = |wire: &Wire| starts_with_any(path, wire.http().prefixes);
        Wire::ALL.into_iter().find(is_below).map(Self::Other)
    }

    /// Returns the route behind the path prefix of a family. A request that belongs to another family
    /// is passed on unread to the upstream of this one.
    pub(crate) fn within(self, family: Family) -> Self {
        match self {
            Self::Media => self,
            Self::Turn(wire) | Self::CountTokens(wire) | Self::Other(wire)
                if Family::of(wire) == family =>
            {
                self
            }
            _ => Self::Other(family.wire()),
        }
    }

    /// Returns `true` if only tokens are to be counted.
    pub(crate) const fn is_count(self) -> bool {
        matches!(self, Self::CountTokens(_))
    }

    /// Returns the wire of the client. Errors are written in its format.
    pub(crate) const fn wire(self) -> Wire {
        match self {
            Self::Turn(wire) | Self::CountTokens(wire) | Self::Other(wire) => wire,
            Self::Health | Self::Ready | Self::Metrics | Self::Media | Self::Openwop => {
                Wire::OpenAiChat
            }
        }
    }
}

/// Parses the parameters in a path: on some wires, the model and the streaming flag.
pub(crate) fn path_params(wire: Wire, path: &str) -> PathParams {
    wire.parse_path(path.strip_suffix('/').unwrap_or(path)).unwrap_or_default()
}

/// Returns `true` if a path is complete without a version before it.
pub(crate) fn is_complete(path: &str) -> bool {
    Wire::ALL.iter().any(|wire| starts_with_any(path, wire.http().unversioned))
}

fn starts_with_any(path: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| path.starts_with(start))
}

/// Returns whether a path belongs to the openwop host. Without the feature, none does.
#[cfg(feature = "openwop")]
fn is_openwop(path: &str) -> bool {
    photic_openwop::is_ours(path)
}

#[cfg(not(feature = "openwop"))]
fn is_openwop(_path: &str) -> bool {
    false
}

/// Removes `/v1` from the beginning of a path. Some clients count it to the base URL, others do not.
pub(crate) fn without_version(path: &str) -> &str {
    match path.strip_prefix("/v1") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let of = |method: Method, path: &str| Route::of(&method, path, &HeaderMap::new());
        for (path, route) in [
            ("/photic/v1/media", Route::Media),
            ("/chat/completions", Route::Turn(Wire::OpenAiChat)),
            ("/responses", Route::Turn(Wire::OpenAiResponses)),
            ("/messages", Route::Turn(Wire::Anthropic)),
            ("/api/chat", Route::Turn(Wire::Ollama)),
            ("/api/show", Route::Other(Wire::Ollama)),
            ("/v1beta/models/g:generateContent", Route::Turn(Wire::Gemini)),
            ("/v1beta/models/g:streamGenerateContent", Route::Turn(Wire::Gemini)),
            ("/projects/p/models/g:generateContent", Route::Turn(Wire::Gemini)),
            ("/v1beta/models/g:countTokens", Route::Other(Wire::Gemini)),
            ("/model/a.b-v1%3A0/converse", Route::Turn(Wire::BedrockConverse)),
            ("/model/a.b-v1%3A0/converse-stream", Route::Turn(Wire::BedrockConverse)),
            ("/model/a.b-v1%3A0/invoke", Route::Other(Wire::BedrockConverse)),
            ("/messages/count_tokens", Route::CountTokens(Wire::Anthropic)),
            ("/messages/batches", Route::Other(Wire::Anthropic)),
            ("/models", Route::Other(Wire::OpenAiChat)),
            ("/v1x/messages", Route::Other(Wire::OpenAiChat)),
        ] {
            assert_eq!(of(Method::POST, path), route, "{path}");
            if !path.starts_with("/v1x") {
                assert_eq!(of(Method::POST, &format!("/v1{path}")), route, "{path}");
            }
        }
        assert_eq!(of(Method::GET, "/health"), Route::Health);
        assert_eq!(of(Method::GET, "/v1/messages"), Route::Other(Wire::OpenAiChat));
    }

    #[test]
    fn paths_say_the_model_there_and_back() {
        for (wire, path, model, stream) in [
            (Wire::Gemini, "/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", false),
            (Wire::Gemini, "/v1beta/models/g:streamGenerateContent", "g", true),
            (Wire::BedrockConverse, "/model/us.a-v1%3A0/converse", "us.a-v1:0", false),
            (Wire::BedrockConverse, "/model/a%2Fb/converse-stream", "a/b", true),
        ] {
            let asked = path_params(wire, path);
            assert_eq!(asked, PathParams { model: Some(model.to_owned()), stream });
            assert_eq!(wire.path(&asked).0, path);
        }
        assert_eq!(path_params(Wire::OpenAiChat, "/model/x/converse"), PathParams::default());
    }

    #[test]
    fn headers_tell_who_asks_for_models() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", http::HeaderValue::from_static("k"));
        let route = Route::of(&Method::GET, "/v1/models", &headers);
        assert_eq!(route, Route::Other(Wire::Anthropic));
    }
}
