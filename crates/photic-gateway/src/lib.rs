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
//! streamed through. A rejection that blames media is obeyed: the request is repaired further and
//! sent again, and what helped is remembered, with its evidence.
//!
//! # What it does not do
//!
//! It holds no keys: the caller's pass through, to an upstream that was named for them, or to the
//! provider that issued them. It answers no web pages (`origins`), and on loopback no other names
//! (`hosts`). It fetches no image addresses where the provider can
//! (unless told to), and none from private networks. It keeps nothing on disk but what rejections
//! taught it (neither media nor keys), tells neither bodies nor headers to its log, its metrics or
//! its traces, and serves no TLS.

mod config;
mod counter;
mod dispatch;
#[cfg(feature = "fleet")]
pub mod fleet;
mod future;
mod http;
pub mod learned;
mod media;
mod memory;
mod observe;
mod record;
mod server;
mod tenant;
mod turn;
mod upstream;

pub use config::{
    Admin, Config, ConfigError, ExportHeaders, Family, FetchConfig, FetchMode, FleetConfig,
    LearnedConfig, Limits, LogFormat, OpenwopConfig, PathPrefixes, Policies, QuotaConfig,
    RecordConfig, Telemetry, Timeouts, UpstreamConfig,
};
pub use observe::{Retired, Tally};
pub use server::{Gateway, StartError, runtime};
