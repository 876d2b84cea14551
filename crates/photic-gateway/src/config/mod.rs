//! The settings of a gateway, read from `photic.toml` or set by the program that runs it.
//!
//! Unknown keys are errors, so that a misspelled setting is not ignored silently.

mod callers;
mod error;
mod family;
mod fetch;
mod fleet;
mod keys;
mod limits;
mod listening;
mod memory_size;
mod models;
mod openwop;
mod operate;
mod prefixes;
mod quota;
mod record;
mod schema;
mod secret;
mod settings;
mod upstream;

pub use callers::{CallersConfig, OidcConfig};
pub use error::ConfigError;
pub use family::Family;
pub use fetch::{FetchConfig, FetchMode};
pub use fleet::FleetConfig;
pub use limits::{Limits, Timeouts};
pub use listening::{ReloadConfig, TlsConfig};
pub use models::{FailoverConfig, ModelConfig, ModelsConfig};
pub use openwop::OpenwopConfig;
pub use operate::{Admin, ExportHeaders, InspectConfig, LogFormat, ResourceAttributes, Telemetry};
pub use prefixes::PathPrefixes;
pub(crate) use prefixes::{NamedPrefix, Prefix};
pub use quota::QuotaConfig;
pub use record::RecordConfig;
pub(crate) use secret::SecretSource;
pub use secret::SecretText;
pub use settings::{Config, LearnedConfig, Policies, Serves};
pub use upstream::{CredentialSource, HttpChoice, UpstreamConfig};
