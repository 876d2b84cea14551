//! The path of a request that is a turn of a conversation.

use super::{Envelope, PathParams, Purpose, Wire};

/// The meaning of a path that a turn of a conversation is posted to.
///
/// ```
/// use photic::Wire;
/// use photic::wire::TurnPath;
///
/// let turn = TurnPath::read("/v1/chat/completions").unwrap();
/// assert_eq!(turn.wire, Wire::OpenAiChat);
/// assert!(TurnPath::read("/v1/embeddings").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnPath {
    /// The wire of the body.
    pub wire: Wire,
    /// The model and the streaming mode, where the path names them.
    pub params: PathParams,
    /// The host whose profile applies, wherever the request goes, if its envelope names one.
    pub profile_host: Option<&'static str>,
}

impl TurnPath {
    /// Reads a path, with or without version, query and trailing slash. Returns `None` if no turn of a
    /// conversation is posted there.
    pub fn read(path: &str) -> Option<Self> {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let path = without_version(path.strip_suffix('/').unwrap_or(path));
        let unversioned =
            |wire: &Wire| wire.http().unversioned.iter().any(|start| path.starts_with(start));
        let is_complete = Wire::ALL.iter().any(unversioned);
        // Some wires read their own path behind any prefix. A prefix is a matter of the envelope.
        for wire in Wire::ALL {
            if !wire.names_model() && !is_complete {
                continue;
            }
            if let Some(params) = wire.parse_path(path) {
                return Some(Self { wire, params, profile_host: None });
            }
        }
        let (envelope, params) = Envelope::of_path(path)?;
        let is_turn = envelope.purpose == Purpose::Turn;
        let (wire, profile_host) = (envelope.wire, envelope.profile_host.as_deref());
        is_turn.then_some(Self { wire, params, profile_host })
    }
}

/// Removes `/v1` from the beginning of a path. Some clients count it to the base URL, others do not.
fn without_version(path: &str) -> &str {
    match path.strip_prefix("/v1") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => path,
    }
}
