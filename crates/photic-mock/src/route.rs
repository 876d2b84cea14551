//! What a path asks for.

use hyper::Method;
use photic::Wire;

/// A door of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model is asked.
    Ask(Wire),
    /// Tokens are counted, nobody is asked.
    Count(Wire),
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
        let path = without_version(path);
        let is_posted = method == Method::POST;
        let find =
            |is: &dyn Fn(&Wire) -> bool| Wire::ALL.into_iter().find(is).filter(|_| is_posted);
        if let Some(wire) = find(&|wire| wire.parse_path(path).is_some()) {
            return Self::Ask(wire);
        }
        if let Some(wire) = find(&|wire| wire.http().count_tokens == Some(path)) {
            return Self::Count(wire);
        }
        match (method.as_str(), path) {
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

/// A path without the version that may come before it.
pub(crate) fn without_version(path: &str) -> &str {
    path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path)
}
