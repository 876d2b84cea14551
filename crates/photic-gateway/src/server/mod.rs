//! The server: listeners, connections, start and stop.

mod build;
mod connections;
mod drain;
mod gateway;
mod listener;
mod runtime;
mod timed_stream;

pub use build::StartError;
pub use gateway::Gateway;
pub use runtime::runtime;
