//! Routes: what a method and path ask for.

use hyper::Method;
use photic::Wire;

/// A route of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A request to a model.
    Ask(Wire),
    /// A request to count tokens.
    Count(Wire),
    /// The list of models.
    Models,
    /// One model.
    Model(String),
    /// The journal.
    Journal,
    /// Empty the journal.
    ForgetJournal,
    /// Unknown.
    Unknown,
}

impl Route {
    /// The route of a method and path; `/v1` may be omitted.
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

/// A path without its version.
pub(crate) fn without_version(path: &str) -> &str {
    path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path)
}
