//! Routes: the meaning of a request's method and path. Knows nothing about upstreams.

use http::{HeaderMap, Method};
use photic::Wire;
use photic::wire::{Envelope, Purpose};

use super::endpoint::Endpoint;
use super::paths::{is_below, is_complete, without_version};
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
    Turn(Endpoint),
    /// The token count of a turn, without its answer.
    CountTokens(Endpoint),
    /// A conversation to be summarized by the server.
    Compact(Endpoint),
    /// A list of turns to be answered later.
    Batch(Endpoint),
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
                return Self::conversation(path).or_else(|| Self::other(path));
            }
            (_, path) => return Self::other(path),
        })
    }

    /// Returns the route of a path that bodies with conversations are posted to: first the own path
    /// of a wire, then an envelope.
    fn conversation(path: &str) -> Option<Self> {
        let find = |is: &dyn Fn(Wire) -> bool| Wire::ALL.into_iter().find(|wire| is(*wire));
        // Some wires read their own path behind any prefix. A prefix is a matter of the envelope.
        let is_own = |wire: Wire| wire.names_model() || is_complete(path);
        if let Some(wire) = find(&|wire| is_own(wire) && wire.parse_path(path).is_some()) {
            return Some(Self::Turn(wire.into()));
        }
        if let Some(wire) = find(&|wire| wire.http().count_tokens == Some(path)) {
            return Some(Self::CountTokens(wire.into()));
        }
        let endpoint = Endpoint::from(Envelope::of_path(path)?.0);
        Some(match endpoint.purpose() {
            Purpose::CountTokens => Self::CountTokens(endpoint),
            Purpose::Compact => Self::Compact(endpoint),
            Purpose::Batch => Self::Batch(endpoint),
            _ => Self::Turn(endpoint),
        })
    }

    /// Returns the route of a path below a prefix of a wire.
    fn other(path: &str) -> Option<Self> {
        // A path with a prefix may also begin like one of another wire.
        let envelope = Envelope::of_path(path).map(|(envelope, _)| envelope.served_by());
        let below = || Wire::ALL.into_iter().find(|wire| is_below(path, *wire));
        envelope.or_else(below).map(Self::Other)
    }

    /// Returns the route behind the path prefix of a family. A request that belongs to another family
    /// is passed on unread to the upstream of this one.
    pub(crate) fn within(self, family: Family) -> Self {
        match self {
            Self::Media => self,
            Self::Health | Self::Ready | Self::Metrics | Self::Openwop => {
                Self::Other(family.wire())
            }
            _ if Family::of(self.served_by()) == family => self,
            _ => Self::Other(family.wire()),
        }
    }

    /// Returns the route behind a named path prefix: the gateway has no pages of its own there.
    pub(crate) fn of_provider(self) -> Self {
        match self {
            Self::Health | Self::Ready | Self::Metrics | Self::Openwop => Self::Other(self.wire()),
            _ => self,
        }
    }

    /// Returns the endpoint of a request with a conversation.
    pub(crate) const fn endpoint(self) -> Option<Endpoint> {
        match self {
            Self::Turn(endpoint)
            | Self::CountTokens(endpoint)
            | Self::Compact(endpoint)
            | Self::Batch(endpoint) => Some(endpoint),
            Self::Health
            | Self::Ready
            | Self::Metrics
            | Self::Media
            | Self::Openwop
            | Self::Other(_) => None,
        }
    }

    /// Returns `true` if this is a turn of a conversation.
    pub(crate) const fn is_turn(self) -> bool {
        matches!(self, Self::Turn(_))
    }

    /// Returns the wire of the body.
    pub(crate) fn wire(self) -> Wire {
        match self {
            Self::Other(wire) => wire,
            _ => self.endpoint().map_or(Wire::OpenAiChat, |endpoint| endpoint.wire),
        }
    }

    /// Returns the wire whose upstreams serve the request. Errors are written in its format.
    pub(crate) fn served_by(self) -> Wire {
        self.endpoint().map_or_else(|| self.wire(), Endpoint::served_by)
    }
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

#[cfg(test)]
mod tests {
    use photic::wire::PathParams;

    use super::*;

    #[test]
    fn paths() {
        let of = |method: Method, path: &str| Route::of(&method, path, &HeaderMap::new());
        let turn = |wire: Wire| Route::Turn(wire.into());
        let within = |name: &str| {
            Endpoint::from(Envelope::all().iter().find(|one| one.name == name).unwrap())
        };
        for (path, route) in [
            ("/photic/v1/media", Route::Media),
            ("/chat/completions", turn(Wire::OpenAiChat)),
            ("/responses", turn(Wire::OpenAiResponses)),
            ("/messages", turn(Wire::Anthropic)),
            ("/api/chat", turn(Wire::Ollama)),
            ("/api/show", Route::Other(Wire::Ollama)),
            ("/v1beta/models/g:generateContent", turn(Wire::Gemini)),
            ("/v1beta/models/g:streamGenerateContent", turn(Wire::Gemini)),
            ("/projects/p/models/g:generateContent", Route::Turn(within("gemini-generate"))),
            ("/v1beta/models/g:countTokens", Route::CountTokens(within("gemini-count-tokens"))),
            ("/openai/deployments/d/chat/completions", Route::Turn(within("azure-deployment"))),
            ("/api/v1/chat/completions", Route::Turn(within("chat-completions"))),
            ("/anthropic/v1/messages", Route::Turn(within("messages"))),
            ("/responses/compact", Route::Compact(within("responses-compact"))),
            ("/threads/t/messages", Route::Other(Wire::OpenAiChat)),
            ("/model/a.b-v1%3A0/converse", turn(Wire::BedrockConverse)),
            ("/model/a.b-v1%3A0/converse-stream", turn(Wire::BedrockConverse)),
            ("/model/a.b-v1%3A0/invoke", Route::Turn(within("bedrock-invoke"))),
            ("/messages/count_tokens", Route::CountTokens(Wire::Anthropic.into())),
            ("/messages/batches", Route::Batch(within("messages-batches"))),
            ("/models", Route::Other(Wire::OpenAiChat)),
            ("/v1x/messages", Route::Other(Wire::OpenAiChat)),
            ("/v1x/v1/messages", Route::Turn(within("messages"))),
        ] {
            assert_eq!(of(Method::POST, path), route, "{path}");
            if !path.starts_with("/v1x/messages") {
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
            let asked = Endpoint::from(wire).params(path);
            assert_eq!(asked, PathParams { model: Some(model.to_owned()), stream });
            assert_eq!(wire.path(&asked).0, path);
        }
        let other = Endpoint::from(Wire::OpenAiChat).params("/model/x/converse");
        assert_eq!(other, PathParams::default());
    }

    #[test]
    fn headers_tell_who_asks_for_models() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", http::HeaderValue::from_static("k"));
        let route = Route::of(&Method::GET, "/v1/models", &headers);
        assert_eq!(route, Route::Other(Wire::Anthropic));
    }
}
