//! Whether pictures are fetched that came as addresses, and from where.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether pictures are fetched that came as addresses, and from where.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// When the gateway fetches instead of the provider: `never`, `needed` or `always`.
    pub mode: FetchMode,
    /// Patterns of hosts that may be fetched from, with `*`; without any, every public host.
    pub hosts: Vec<String>,
    /// Patterns of hosts that may not, whatever `hosts` says.
    pub not_hosts: Vec<String>,
    /// Addresses that may be fetched from although they are not public, each with its port.
    #[schemars(with = "Vec<String>")]
    pub private: Vec<SocketAddr>,
    /// The largest picture, in MiB.
    pub max_mib: u32,
    /// The most that is fetched for one request, in MiB; what is past that gives way to a notice.
    pub total_mib: u32,
    /// For each picture, from its name to its last byte, in seconds.
    pub timeout_s: u32,
    /// What fetched pictures may take together, in MiB, so that later turns need not fetch them again; at
    /// most a sixteenth of `limits.memory_mib`.
    pub keep_mib: u32,
}

/// When the gateway fetches a picture that came as an address.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FetchMode {
    /// Never: where the provider takes no addresses, a notice says that it is not shown.
    Never,
    /// Where the provider takes no addresses.
    #[default]
    Needed,
    /// Always: the provider never sees the address.
    Always,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            mode: FetchMode::default(),
            hosts: Vec::new(),
            not_hosts: Vec::new(),
            private: Vec::new(),
            max_mib: 20,
            total_mib: 64,
            timeout_s: 10,
            keep_mib: 64,
        }
    }
}
