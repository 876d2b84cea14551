//! The server: listeners, connections, start and stop.

mod build;
mod connections;
mod drain;
mod gateway;
mod listener;
mod live;
mod reload;
mod runtime;
mod timed_stream;
mod tls;

pub use build::StartError;
pub use gateway::Gateway;
pub use reload::{ReloadError, Reloader};
pub use runtime::runtime;
