//! The providers and local servers that requests are sent to.

use photic::Wire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::schema;

/// A provider or local server that requests are sent to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct UpstreamConfig {
    /// Base URL, with or without a final `/v1`.
    #[schemars(example = "http://127.0.0.1:1234/v1")]
    pub url: String,
    /// The wire (API format) that it speaks. If unset, it speaks every wire.
    #[serde(default)]
    #[schemars(schema_with = "schema::wires")]
    pub wire: Option<Wire>,
    /// Globs of the models that it serves, on every wire. If empty, it serves every model that is
    /// requested on its own wire.
    #[serde(default)]
    pub models: Vec<String>,
    /// If true, paths like `/chat/completions` are appended to the URL directly. If false, `/v1` is
    /// put before them, as most providers require.
    #[serde(default)]
    pub unversioned: bool,
    /// AWS region, if this is Amazon Bedrock. Requests without a key are signed with the gateway's own
    /// AWS credentials, found as in Amazon's SDKs. Every client of the gateway can then use them.
    #[serde(default)]
    #[schemars(example = "us-east-1")]
    pub region: Option<String>,
    /// If false, it has no WebSocket for Responses, and clients are told so at once (426). If true, it
    /// is asked.
    #[serde(default = "yes")]
    pub websocket: bool,
    /// If true, it takes precedence over upstreams with `models`. Set for upstreams given by a flag.
    #[serde(skip)]
    pub overrides: bool,
    /// If true, it gets only requests without a key, or with one that its own family may have issued,
    /// as default upstreams do. Others are refused.
    #[serde(skip)]
    pub issuer_only: bool,
    /// Named prefix of [`PathPrefixes`](super::PathPrefixes) whose requests go here, on every wire,
    /// with their paths appended to the URL as they are. Other requests never do.
    #[serde(skip)]
    pub prefix: Option<String>,
}

impl UpstreamConfig {
    /// Returns the default upstreams, used if none is configured: the provider of each wire.
    pub fn defaults() -> Result<Vec<Self>, ConfigError> {
        #[derive(Deserialize)]
        struct Defaults {
            upstream: Vec<UpstreamConfig>,
        }
        let defaults: Result<Defaults, _> =
            toml::from_str(include_str!("../../data/defaults.toml"));
        let upstreams = defaults.map(|defaults| defaults.upstream);
        upstreams.map_err(|error| ConfigError::toml(&error))
    }

    /// Creates an upstream at this URL, for this wire or for every one.
    pub fn new(url: impl Into<String>, wire: Option<Wire>) -> Self {
        Self {
            url: url.into(),
            wire,
            models: Vec::new(),
            unversioned: false,
            region: None,
            websocket: true,
            overrides: false,
            issuer_only: false,
            prefix: None,
        }
    }
}

const fn yes() -> bool {
    true
}

impl std::str::FromStr for UpstreamConfig {
    type Err = ConfigError;

    /// Parses `URL` or `WIRE=URL`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        // A URL may hold a `=` itself, but only after its scheme.
        let named = text.split_once('=').filter(|(name, _)| !name.contains("://"));
        let Some((name, url)) = named else {
            return Ok(Self::new(text, None));
        };
        let Some(wire) = Wire::from_name(name) else {
            let names = Wire::ALL.map(Wire::name).join(", ");
            let problem = format!("unknown wire `{name}`; use one of {names}");
            return Err(ConfigError::Value { key: "upstream".to_owned(), problem });
        };
        Ok(Self::new(url, Some(wire)))
    }
}
