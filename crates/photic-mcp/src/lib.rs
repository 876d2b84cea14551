//! The tools of `photic-tools` as an MCP server: one look, one reading, one question, and a proof
//! that the host shows its model pixels at all.
//!
//! ```no_run
//! use photic_mcp::{HttpServer, Server, Structured};
//! use photic_tools::Tools;
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Tools::builder().root(".").build()?;
//! let server = Server::new(tools, Structured::default());
//! let door = HttpServer::bind("127.0.0.1:0", server).await?;
//! eprintln!("listening on {}", door.url());
//! door.serve(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! Every result is words first, then the picture, then data: `structuredContent` as the output
//! schemas say, and the same beside the picture in `_meta`. A "no" is a result (`isError`) that
//! tells the model what to do next. No result is longer than [`MOST_CHARACTERS`].
//!
//! # What it does not do
//!
//! It keeps no picture, writes no log, asks nobody for a key (so it listens on loopback only), and
//! offers no resources, prompts or tasks.

mod catalog;
mod facts;
mod hosts;
mod http;
mod probe;
mod progress;
mod results;
mod schema;
mod server;
mod stdio;

pub use catalog::reference;
pub use hosts::Structured;
pub use http::{HttpServer, PATH, StartError};
pub use results::MOST_CHARACTERS;
pub use server::Server;
pub use stdio::{StdioError, serve_stdio};
