//! What a path asks for. Knows paths, and nothing about whom they are sent to.

use http::{HeaderMap, Method};
use photic::Wire;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The gateway itself: is it alive?
    Health,
    /// The gateway itself: does it take requests?
    Ready,
    /// The gateway itself: what did it do?
    Metrics,
    /// A turn of a conversation.
    Converse(Wire),
    /// What a turn would cost.
    CountTokens,
    /// Anything else, to be passed on as it is, most likely of this wire.
    Other(Wire),
}

impl Route {
    pub(crate) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        match (method.as_str(), without_version(path)) {
            ("GET" | "HEAD", "/health") => Self::Health,
            ("GET" | "HEAD", "/ready") => Self::Ready,
            ("GET" | "HEAD", "/metrics") => Self::Metrics,
            ("POST", "/chat/completions") => Self::Converse(Wire::OpenAiChat),
            ("POST", "/responses") => Self::Converse(Wire::OpenAiResponses),
            ("POST", "/messages") => Self::Converse(Wire::Anthropic),
            ("POST", "/messages/count_tokens") => Self::CountTokens,
            (_, path) if path.starts_with("/messages/") => Self::Other(Wire::Anthropic),
            (_, path) if path.starts_with("/responses/") => Self::Other(Wire::OpenAiResponses),
            // `/models` is spelled the same on all wires; their headers differ.
            _ if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") => {
                Self::Other(Wire::Anthropic)
            }
            _ => Self::Other(Wire::OpenAiChat),
        }
    }

    /// The wire of whoever asks: errors are rendered in its envelope.
    pub(crate) const fn wire(self) -> Wire {
        match self {
            Self::Converse(wire) | Self::Other(wire) => wire,
            Self::CountTokens => Wire::Anthropic,
            Self::Health | Self::Ready | Self::Metrics => Wire::OpenAiChat,
        }
    }
}

/// The path on which a wire converses.
pub(crate) const fn conversation(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAiChat => "/v1/chat/completions",
        Wire::OpenAiResponses => "/v1/responses",
        Wire::Anthropic => "/v1/messages",
    }
}

/// Clients differ in whether the version belongs to the base address.
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
            ("/chat/completions", Route::Converse(Wire::OpenAiChat)),
            ("/responses", Route::Converse(Wire::OpenAiResponses)),
            ("/messages", Route::Converse(Wire::Anthropic)),
            ("/messages/count_tokens", Route::CountTokens),
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
    fn headers_tell_who_asks_for_models() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", http::HeaderValue::from_static("k"));
        let route = Route::of(&Method::GET, "/v1/models", &headers);
        assert_eq!(route, Route::Other(Wire::Anthropic));
    }
}
