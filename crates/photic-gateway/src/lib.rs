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
//! The gateway reads a request completely, repairs it with `photic`, and sends it to an upstream. A
//! body that needs no repair is sent as the bytes that arrived. Replies, and requests to all other
//! paths, are streamed. If a provider rejects a request because of its media, the gateway repairs it
//! further and sends it again. It remembers what helped as a *lesson*, with its evidence.
//!
//! # What it does not do
//!
//! - It stores no keys of clients. A client's key is passed to a configured upstream without a key of
//!   its own, or to the provider that issued it.
//! - It refuses requests from web pages (`origins`), and on loopback requests to other host names
//!   (`hosts`).
//! - It fetches no image URLs that the provider can fetch (unless configured), and none from private
//!   networks.
//! - It stores nothing but lessons, unless `[record]` or `[fleet]` is configured.
//! - Its log, metrics and traces contain no bodies and no headers.
//!
//! # Layers
//!
//! Modules from bottom to top. A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `counter` | A counter that threads change without waiting for each other. |
//! | `future` | The type of futures that methods of trait objects return. |
//! | `config` | The settings, read from `photic.toml`. |
//! | `memory` | One memory budget for all requests and caches, fair between callers. |
//! | `http` | Bodies, headers, routes and failures. |
//! | `tenant` | The caller of a request: its identity, its quota, its audit. |
//! | `upstream` | Chooses the upstream of a request, resolves its profile, sends and signs. |
//! | [`learned`] | Lessons that rejections and probes taught about endpoints. |
//! | `record` | Records turns and uploaded media. Contains the store in local files. |
//! | `media` | Fetches, loads, caches and prepares the images of a request. |
//! | `observe` | Metrics, the log, and traces. |
//! | `fleet` | Keys, quotas, audit, lessons and the store on the servers of a fleet (feature `fleet`). |
//! | `turn` | A turn of a conversation, stage by stage, from its request to its reply. |
//! | `socket` | WebSockets: Responses frame by frame, every other protocol as bytes. |
//! | `dispatch` | Passes each request to the part of the gateway that answers it. |
//! | `server` | Listeners, TLS, connections, start, reload and stop. |

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
mod socket;
mod tenant;
mod turn;
mod upstream;

pub use config::{
    Admin, CallersConfig, Config, ConfigError, CredentialSource, ExportHeaders, FailoverConfig,
    Family, FetchConfig, FetchMode, FleetConfig, HttpChoice, InspectConfig, LearnedConfig, Limits,
    LogFormat, ModelConfig, ModelsConfig, OidcConfig, OpenwopConfig, PathPrefixes, Policies,
    QuotaConfig, RecordConfig, ReloadConfig, ResourceAttributes, SecretText, Serves, Telemetry,
    Timeouts, TlsConfig, UpstreamConfig,
};
pub use observe::{FailedRequests, Retired, SessionTurns, Tally, TokenUse};
pub use server::{Gateway, ReloadError, Reloader, StartError, runtime};
pub use tenant::NewCallerKey;
