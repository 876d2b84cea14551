//! What a path asks for.

use hyper::Method;
use photic::Wire;

/// A door of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model is asked.
    Ask(Wire),
    /// Tokens are counted, nobody is asked.
    Count,
    /// The models there are.
    Models,
    /// One model.
    Model(String),
    /// What was asked so far; `DELETE` forgets it.
    Journal,
    /// Forget what was asked so far.
    ForgetJournal,
    /// Nothing is behind it.
    Unknown,
}

impl Route {
    /// The door of a method and a path; `/v1` may be left out.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        if let Some(wire) = asked_of(path).map(|asked| asked.0).filter(|_| method == Method::POST) {
            return Self::Ask(wire);
        }
        let path = path.strip_prefix("/v1").unwrap_or(path);
        match (method.as_str(), path) {
            ("POST", "/chat/completions") => Self::Ask(Wire::OpenAiChat),
            ("POST", "/responses") => Self::Ask(Wire::OpenAiResponses),
            ("POST", "/messages") => Self::Ask(Wire::Anthropic),
            ("POST", "/api/chat") => Self::Ask(Wire::Ollama),
            ("POST", "/messages/count_tokens") => Self::Count,
            ("GET", "/models") => Self::Models,
            ("GET", "/__mock/requests") => Self::Journal,
            ("DELETE", "/__mock/requests") => Self::ForgetJournal,
            ("GET", _) => match path.strip_prefix("/models/") {
                Some(model) => Self::Model(model.to_owned()),
                None => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// The wire, the model and whether to stream, where a path says it: `…/models/NAME:generateContent`
/// and `/model/NAME/converse`.
pub(crate) fn asked_of(path: &str) -> Option<(Wire, String, bool)> {
    // Names of models hold no other sign that clients would escape.
    let plain = |name: &str| name.replace("%3A", ":").replace("%2F", "/");
    if let Some((rest, verb)) = path.rsplit_once(':')
        && let Some((_, model)) = rest.rsplit_once("/models/")
    {
        let stream = match verb {
            "generateContent" => false,
            "streamGenerateContent" => true,
            _ => return None,
        };
        return Some((Wire::Gemini, plain(model), stream));
    }
    let (model, verb) = path.strip_prefix("/model/")?.rsplit_once('/')?;
    let stream = match verb {
        "converse" => false,
        "converse-stream" => true,
        _ => return None,
    };
    Some((Wire::Converse, plain(model), stream))
}
