//! The place of a connection among those that the gateway may have open.

use std::fmt::Debug;
use std::sync::Arc;

/// Holds the place of a connection.
pub(crate) trait HoldPlace: Debug + Send + Sync {
    /// Notes that the connection became a socket, which is busy until it ends.
    fn upgraded(&self);
}

/// The place of a connection, as an extension of its requests. It is free when the last copy is
/// dropped.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionPlace(pub(crate) Arc<dyn HoldPlace>);
