//! Routes: what a method and path ask for.

use hyper::Method;
use photic::Wire;
use photic::wire::PathParams;

use crate::envelope::Envelope;

/// A route of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A request to a model.
    Ask(Wire),
    /// A request to a model of the Messages API, in an envelope.
    AskWrapped(Envelope),
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
        if let Some(envelope) = Envelope::of(path).filter(|_| is_posted) {
            return Self::AskWrapped(envelope);
        }
        if let Some(wire) = find(&|wire| ends_with_path_of(*wire, path)) {
            return Self::Ask(wire);
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

/// Returns `true` if a path is that of a wire after the prefix of a host, such as `/openai/v1`.
fn ends_with_path_of(wire: Wire, path: &str) -> bool {
    let own = wire.path(&PathParams::default()).0;
    wire.names_model() && path.ends_with(without_version(&own))
}

/// A path without its version.
pub(crate) fn without_version(path: &str) -> &str {
    path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path)
}
