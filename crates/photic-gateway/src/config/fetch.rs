//! Settings for fetching images that requests name by URL.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fetching of images that requests name by URL.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Selects when the gateway fetches instead of the provider: `never`, `needed` or `always`.
    pub mode: FetchMode,
    /// Host patterns, with `*`, that may be fetched from. If empty, every public host is allowed.
    pub hosts: Vec<String>,
    /// Host patterns that may not be fetched from. They take precedence over `hosts`.
    pub not_hosts: Vec<String>,
    /// Private addresses that may be fetched from, each with its port.
    #[schemars(with = "Vec<String>")]
    pub private: Vec<SocketAddr>,
    /// Maximum size of one image, in MiB.
    pub max_mib: u32,
    /// Maximum bytes fetched for one request, in MiB. Further images are replaced by a notice.
    pub total_mib: u32,
    /// Time to fetch one image, from the name lookup to the last byte, in seconds.
    pub timeout_s: u32,
    /// Size of the cache of fetched images, in MiB, so that later turns need not fetch them again.
    /// At most a twentieth of `limits.memory_mib` is used.
    pub keep_mib: u32,
}

/// The cases in which the gateway fetches an image that a request names by URL.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FetchMode {
    /// Never. If the provider accepts no URLs, a notice replaces the image.
    Never,
    /// If the provider accepts no URLs.
    #[default]
    Needed,
    /// Always. The provider never sees the URL.
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
