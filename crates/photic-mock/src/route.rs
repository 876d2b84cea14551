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
        let path = path.strip_prefix("/v1").unwrap_or(path);
        match (method.as_str(), path) {
            ("POST", "/chat/completions") => Self::Ask(Wire::OpenAiChat),
            ("POST", "/responses") => Self::Ask(Wire::OpenAiResponses),
            ("POST", "/messages") => Self::Ask(Wire::Anthropic),
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
