//! Endpoints: the wire of a request's body, and the envelope that its path names.

use photic::Wire;
use photic::wire::{Envelope, PathParams, Purpose};

use super::paths::{is_below, without_version};

/// The wire of a request's body, and the envelope around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    pub(crate) wire: Wire,
    /// Set if the path is not the wire's own.
    pub(crate) envelope: Option<&'static Envelope>,
}

impl Endpoint {
    /// Returns the wire whose upstreams serve the request.
    pub(crate) fn served_by(self) -> Wire {
        self.envelope.map_or(self.wire, Envelope::served_by)
    }

    /// Returns the host whose profile applies, if the envelope decides it.
    pub(crate) fn profile_host(self) -> Option<&'static str> {
        self.envelope?.profile_host.as_deref()
    }

    /// Returns `true` if the request can be sent only to an upstream that is configured.
    pub(crate) fn needs_configuration(self) -> bool {
        self.envelope.is_some_and(|envelope| envelope.no_default)
    }

    /// Returns `true` if a streamed reply consists of Amazon frames with one event each.
    pub(crate) fn replies_in_chunks(self) -> bool {
        self.envelope.is_some_and(|envelope| envelope.chunks)
    }

    /// Returns `true` if the path belongs to the provider that serves it. Any other prefix is that of
    /// a host which is not known.
    pub(crate) fn is_own(self, path: &str) -> bool {
        self.envelope.is_none() || is_below(without_version(path), self.served_by())
    }

    /// Returns the member of a reply that holds the number of tokens.
    pub(crate) fn count_member(self) -> &'static str {
        let member = self.envelope.and_then(|envelope| envelope.count_member.as_deref());
        member.unwrap_or("input_tokens")
    }

    /// Returns the meaning of a request.
    pub(super) fn purpose(self) -> Purpose {
        self.envelope.map_or(Purpose::Turn, |envelope| envelope.purpose)
    }

    /// Returns a number for the endpoint, below [`Endpoint::count`].
    pub(crate) fn index(self) -> usize {
        let of = |one: &Envelope| {
            Envelope::all().iter().position(|envelope| std::ptr::eq(envelope, one))
        };
        match self.envelope.and_then(of) {
            Some(envelope) => Wire::ALL.len() + envelope,
            None => self.wire.index(),
        }
    }

    /// Returns the number of endpoints.
    pub(crate) fn count() -> usize {
        Wire::ALL.len() + Envelope::all().len()
    }

    /// Parses the parameters in a path: on some wires and in some envelopes, the model and the
    /// streaming flag.
    pub(crate) fn params(self, path: &str) -> PathParams {
        let path = path.strip_suffix('/').unwrap_or(path);
        let params = match self.envelope {
            Some(_) => Envelope::of_path(path).map(|(_, params)| params),
            None => self.wire.parse_path(path),
        };
        params.unwrap_or_default()
    }
}

/// The endpoint of the wire's own path.
impl From<Wire> for Endpoint {
    fn from(wire: Wire) -> Self {
        Self { wire, envelope: None }
    }
}

impl From<&'static Envelope> for Endpoint {
    fn from(envelope: &'static Envelope) -> Self {
        Self { wire: envelope.wire, envelope: Some(envelope) }
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        self.index() == other.index()
    }
}

impl Eq for Endpoint {}
