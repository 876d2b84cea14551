//! The listener that accepted the connection of a request.

use photic_net::HostCheck;

/// The kind of listener that accepted a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    /// The only listener, for clients and operators.
    Both,
    /// The listener for clients, if operators have their own.
    Public,
    /// The listener for operators.
    Admin,
}

/// The properties of a listener that its requests depend on.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: ListenerKind,
    /// The host names and origins that it accepts.
    pub(crate) hosts: HostCheck,
}
