//! An external processor for Envoy: a gRPC server that repairs the images in the requests which Envoy
//! forwards to model providers.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use photic_extproc::{ExternalProcessor, Settings};
//!
//! let processor = ExternalProcessor::bind("127.0.0.1:4143", Settings::default()).await?;
//! processor.serve(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! Envoy's filter `envoy.filters.http.ext_proc` opens one gRPC stream for each HTTP request. The path
//! tells whether it holds a conversation, and on which wire. Its body is collected, repaired by
//! `photic` and `photic-pixels`, and handed back. Replies are not read: they only get the headers that
//! tell what was done.
//!
//! | module | what it does |
//! |---|---|
//! | `server` | listens, serves connections, stops |
//! | `service` | answers one gRPC request |
//! | `grpc` | reads and writes messages |
//! | `exchange` | the conversation about one HTTP request, without I/O |
//! | `target` | decides whether a body is repaired |
//! | `repair` | repairs one body |
//! | `memory`, `collected` | bodies as they arrive, and the memory for them |
//! | `messages`, `answer` | the messages of Envoy |
//!
//! # What it does not do
//!
//! It knows no keys, opens no connections, fetches no pictures, and remembers nothing between
//! requests. A request that it cannot repair passes as it is.

mod answer;
mod collected;
mod exchange;
#[cfg(test)]
mod exchange_tests;
mod grpc;
mod memory;
mod messages;
mod repair;
mod server;
mod service;
mod settings;
mod target;

pub use server::ExternalProcessor;
pub use settings::{Settings, TooLarge};
