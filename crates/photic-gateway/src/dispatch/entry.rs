//! The listener that a request came in by.

use photic_net::HostCheck;

/// Which listener accepted the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    /// The only one: it serves callers and operators.
    Both,
    /// The one for callers, where operators have their own.
    Public,
    /// The one for operators.
    Admin,
}

/// A listener, as far as its requests are concerned.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: ListenerKind,
    /// The names and origins that it answers to.
    pub(crate) hosts: HostCheck,
}
