//! What a path asks for. Knows paths, and nothing about whom they are sent to.

use std::borrow::Cow;

use http::{HeaderMap, Method};
use photic::Wire;
use photic::wire::escaped;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The gateway itself: is it alive?
    Health,
    /// The gateway itself: does it take requests?
    Ready,
    /// The gateway itself: what did it do?
    Metrics,
    /// The gateway itself: what tenants upload.
    Media,
    /// An openwop host, where the gateway is one.
    Openwop,
    /// A turn of a conversation.
    Converse(Wire),
    /// What a turn would cost.
    CountTokens,
    /// Anything else, to be passed on as it is, most likely of this wire.
    Other(Wire),
}

impl Route {
    pub(crate) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Self {
        Self::by_path(method, path).unwrap_or_else(|| {
            // `/models` is spelled the same on all wires; their headers differ.
            if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
                Self::Other(Wire::Anthropic)
            } else if headers.contains_key("x-goog-api-key") {
                Self::Other(Wire::Gemini)
            } else {
                Self::Other(Wire::OpenAiChat)
            }
        })
    }

    /// What a path alone asks for; nothing, where it is no path of a single wire.
    pub(crate) fn by_path(method: &Method, path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        if photic_openwop::is_ours(path) {
            return Some(Self::Openwop);
        }
        Some(match (method.as_str(), without_version(path)) {
            ("GET" | "HEAD", "/health") => Self::Health,
            ("GET" | "HEAD", "/ready") => Self::Ready,
            ("GET" | "HEAD", "/metrics") => Self::Metrics,
            (_, path) if path.starts_with("/photic/") => Self::Media,
            ("POST", "/chat/completions") => Self::Converse(Wire::OpenAiChat),
            ("POST", "/responses") => Self::Converse(Wire::OpenAiResponses),
            ("POST", "/messages") => Self::Converse(Wire::Anthropic),
            ("POST", "/messages/count_tokens") => Self::CountTokens,
            ("POST", "/api/chat") => Self::Converse(Wire::Ollama),
            ("POST", path) if Asked::of_gemini(path).is_some() => Self::Converse(Wire::Gemini),
            ("POST", path) if Asked::of_converse(path).is_some() => Self::Converse(Wire::Converse),
            (_, path) if path.starts_with("/api/") => Self::Other(Wire::Ollama),
            (_, path) if path.starts_with("/v1beta/") => Self::Other(Wire::Gemini),
            (_, path) if path.starts_with("/model/") => Self::Other(Wire::Converse),
            (_, path) if path.starts_with("/messages/") => Self::Other(Wire::Anthropic),
            (_, path) if path.starts_with("/responses/") => Self::Other(Wire::OpenAiResponses),
            _ => return None,
        })
    }

    /// The same request where only these wires are served: what belongs to another is passed on as
    /// it is, to whoever serves these.
    pub(crate) fn among(self, wires: &[Wire]) -> Self {
        match self {
            Self::Media => self,
            Self::Health | Self::Ready | Self::Metrics | Self::Openwop => {
                wires.first().map_or(self, |wire| Self::Other(*wire))
            }
            _ if wires.contains(&self.wire()) => self,
            _ => wires.first().map_or(self, |wire| Self::Other(*wire)),
        }
    }

    /// The wire of whoever asks: errors are rendered in its envelope.
    pub(crate) const fn wire(self) -> Wire {
        match self {
            Self::Converse(wire) | Self::Other(wire) => wire,
            Self::CountTokens => Wire::Anthropic,
            Self::Health | Self::Ready | Self::Metrics | Self::Media | Self::Openwop => {
                Wire::OpenAiChat
            }
        }
    }
}

/// What a path says beside its route: on some wires the model and whether to stream stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) model: Option<String>,
    pub(crate) stream: bool,
}

impl Asked {
    /// What a path says on a wire; nothing, where the body says it.
    pub(crate) fn of(wire: Wire, path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        let said = match wire {
            Wire::Gemini => Self::of_gemini(path),
            Wire::Converse => Self::of_converse(path),
            Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::Ollama => None,
        };
        said.unwrap_or_default()
    }

    /// `…/models/NAME:generateContent`, whatever stands before.
    fn of_gemini(path: &str) -> Option<Self> {
        let (rest, verb) = path.rsplit_once(':')?;
        let stream = match verb {
            "generateContent" => false,
            "streamGenerateContent" => true,
            _ => return None,
        };
        let (_, model) = rest.rsplit_once("/models/")?;
        Some(Self { model: Some(decoded(model)), stream })
    }

    /// `/model/NAME/converse`.
    fn of_converse(path: &str) -> Option<Self> {
        let (model, verb) = path.strip_prefix("/model/")?.rsplit_once('/')?;
        let stream = match verb {
            "converse" => false,
            "converse-stream" => true,
            _ => return None,
        };
        Some(Self { model: Some(decoded(model)), stream })
    }

    /// The path on which a wire converses, and what is asked with it.
    pub(crate) fn path(&self, wire: Wire) -> (Cow<'static, str>, Option<&'static str>) {
        let model = self.model.as_deref().unwrap_or_default();
        let model = escaped(model.strip_prefix("models/").unwrap_or(model));
        let path = match (wire, self.stream) {
            (Wire::OpenAiChat, _) => "/v1/chat/completions",
            (Wire::OpenAiResponses, _) => "/v1/responses",
            (Wire::Anthropic, _) => "/v1/messages",
            (Wire::Ollama, _) => "/api/chat",
            (Wire::Gemini, false) => {
                return (format!("/v1beta/models/{model}:generateContent").into(), None);
            }
            (Wire::Gemini, true) => {
                let path = format!("/v1beta/models/{model}:streamGenerateContent");
                return (path.into(), Some("alt=sse"));
            }
            (Wire::Converse, false) => return (format!("/model/{model}/converse").into(), None),
            (Wire::Converse, true) => {
                return (format!("/model/{model}/converse-stream").into(), None);
            }
        };
        (path.into(), None)
    }
}

/// Whether a path stands for itself, without a version before it.
pub(crate) fn is_complete(path: &str) -> bool {
    ["/api/", "/model/", "/v1beta/", "/v1alpha/"].iter().any(|start| path.starts_with(start))
}

fn decoded(step: &str) -> String {
    let mut name = Vec::with_capacity(step.len());
    let mut rest = step.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        name.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&name).into_owned()
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
            ("/photic/v1/media", Route::Media),
            ("/chat/completions", Route::Converse(Wire::OpenAiChat)),
            ("/responses", Route::Converse(Wire::OpenAiResponses)),
            ("/messages", Route::Converse(Wire::Anthropic)),
            ("/api/chat", Route::Converse(Wire::Ollama)),
            ("/api/show", Route::Other(Wire::Ollama)),
            ("/v1beta/models/g:generateContent", Route::Converse(Wire::Gemini)),
            ("/v1beta/models/g:streamGenerateContent", Route::Converse(Wire::Gemini)),
            ("/projects/p/models/g:generateContent", Route::Converse(Wire::Gemini)),
            ("/v1beta/models/g:countTokens", Route::Other(Wire::Gemini)),
            ("/model/a.b-v1%3A0/converse", Route::Converse(Wire::Converse)),
            ("/model/a.b-v1%3A0/converse-stream", Route::Converse(Wire::Converse)),
            ("/model/a.b-v1%3A0/invoke", Route::Other(Wire::Converse)),
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
    fn paths_say_the_model_there_and_back() {
        for (wire, path, model, stream) in [
            (Wire::Gemini, "/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", false),
            (Wire::Gemini, "/v1beta/models/g:streamGenerateContent", "g", true),
            (Wire::Converse, "/model/us.a-v1%3A0/converse", "us.a-v1:0", false),
            (Wire::Converse, "/model/a%2Fb/converse-stream", "a/b", true),
        ] {
            let asked = Asked::of(wire, path);
            assert_eq!(asked, Asked { model: Some(model.to_owned()), stream });
            assert_eq!(asked.path(wire).0, path);
        }
        assert_eq!(Asked::of(Wire::OpenAiChat, "/model/x/converse"), Asked::default());
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn headers_tell_who_asks_for_models() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", http::HeaderValue::from_static("k"));
        let route = Route::of(&Method::GET, "/v1/models", &headers);
        assert_eq!(route, Route::Other(Wire::Anthropic));
    }
}
