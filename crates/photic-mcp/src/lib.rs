//! The tools of `photic-tools` as an MCP server. A host gets five tools: `list` shows which
//! files there are, `view` shows pictures, `read` returns text, `inspect` asks a vision model if one
//! is configured, and `probe` proves whether the host shows its model pixels at all. The server runs
//! on standard input and output, or on HTTP for several hosts.
//!
//! ```
//! use photic_mcp::{HttpServer, Server, Structured};
//! use photic_tools::Tools;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let tools = Tools::builder().root(".").build()?;
//! let server = Server::new(tools, Structured::default());
//! let listening = HttpServer::bind("127.0.0.1:0", server).await?;
//! assert!(listening.url().ends_with("/mcp"));
//! listening.serve(async { /* until a signal arrives */ }).await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A result is text first, then the picture, then data: `structuredContent` with an output schema of
//! `view` and `probe`, and facts about the picture in its `_meta`. The text of `list`, `read` and
//! `inspect` is sent once, as text. A refusal is a result (`isError`) that tells the
//! model the next step. No result is longer than [`MAX_RESULT_CHARACTERS`].
//!
//! | module | purpose |
//! |---|---|
//! | `app` | the page that hosts draw for a view (MCP Apps) |
//! | `catalog` | the list of tools: descriptions, input schemas, hints |
//! | `facts` | structured results and output schemas |
//! | `hosts` | known differences between hosts |
//! | `http` | the server on Streamable HTTP |
//! | `probe` | charts that prove whether a model sees |
//! | `progress` | progress notifications, cancellation |
//! | `results` | writes results and limits their size |
//! | `schema` | JSON schemas that every host understands |
//! | `server` | dispatches calls to the tools |
//! | `stdio` | the server on standard input and output |
//!
//! # What it does not do
//!
//! It stores no picture, writes no log, has no authentication (so it listens on loopback only), and
//! offers no prompts or tasks. Its only resource is the page for hosts that draw MCP Apps.

mod app;
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
pub use results::MAX_RESULT_CHARACTERS;
pub use server::Server;
pub use stdio::{StdioError, serve_stdio};
