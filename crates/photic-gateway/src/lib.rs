//! An HTTP proxy between agents and model providers that makes every image reach the model.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use photic_gateway::{Config, Gateway};
//!
//! let config = Config::parse("[[upstream]]\nurl = 'http://127.0.0.1:1234'\nmodels = ['qwen*']")?;
//! let gateway = Gateway::bind(config).await?;
//! println!("http://{}", gateway.address());
//! gateway.serve(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! A conversation is read whole, repaired by `photic`, and sent on in pieces that borrow from what
//! came in; a body that is fine goes out as the bytes that came. Replies, and every other path, are
//! streamed through.
//!
//! # What it does not do
//!
//! It holds no keys: the caller's pass through. It fetches no image addresses, keeps nothing on
//! disk, tells neither bodies nor headers to its log, its metrics or its traces, and serves no TLS.

mod account;
mod buffers;
mod config;
mod converse;
mod cross;
mod derivatives;
mod failure;
mod fix;
mod headers;
mod intake;
mod itself;
mod profiles;
mod proxy;
mod reply;
mod route;
mod serve;
mod telemetry;
mod upstream;

pub use config::{
    Admin, Config, ConfigError, ExportHeaders, Limits, LogFormat, Policies, Telemetry, Timeouts,
    UpstreamConfig,
};
pub use serve::{Gateway, StartError};
