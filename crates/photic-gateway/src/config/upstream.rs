//! The providers and local servers that requests are sent to.

use photic::Wire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::schema;

/// Where some requests go.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamConfig {
    /// Its address, with or without a final `/v1`.
    #[schemars(example = "http://127.0.0.1:1234/v1")]
    pub url: String,
    /// The wire it speaks; without it, every wire.
    #[serde(default)]
    #[schemars(schema_with = "schema::wires")]
    pub wire: Option<Wire>,
    /// Globs of the models it serves, whatever wire their callers speak. Without them it serves
    /// every model asked for on its own wire.
    #[serde(default)]
    pub models: Vec<String>,
    /// Whether nothing is put between its address and `/chat/completions`. Otherwise paths begin
    /// with `/v1` behind it, as most providers have it.
    #[serde(default)]
    pub unversioned: bool,
    /// The region of Amazon Bedrock at this address. Requests without a key of their own are signed
    /// for it, with the credentials that the gateway finds as Amazon's SDKs do: whoever may ask the
    /// gateway may use them.
    #[serde(default)]
    #[schemars(example = "us-east-1")]
    pub region: Option<String>,
    /// Whether it comes before upstreams that name models, as one does that a flag names.
    #[serde(skip)]
    pub overrides: bool,
}

impl UpstreamConfig {
    /// The provider of each wire: where requests go if nobody names an upstream.
    pub fn defaults() -> Result<Vec<Self>, ConfigError> {
        #[derive(Deserialize)]
        struct Defaults {
            upstream: Vec<UpstreamConfig>,
        }
        let defaults: Result<Defaults, _> =
            toml::from_str(include_str!("../../data/defaults.toml"));
        let upstreams = defaults.map(|defaults| defaults.upstream);
        upstreams.map_err(|error| ConfigError::Toml(error.to_string()))
    }

    /// Everything at this address, in this wire or every one.
    pub fn new(url: impl Into<String>, wire: Option<Wire>) -> Self {
        let url = url.into();
        Self { url, wire, models: Vec::new(), unversioned: false, region: None, overrides: false }
    }
}

impl std::str::FromStr for UpstreamConfig {
    type Err = ConfigError;

    /// `URL`, or `WIRE=URL`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        // An address may hold a `=` of its own, but only behind its scheme.
        let named = text.split_once('=').filter(|(name, _)| !name.contains("://"));
        let Some((name, url)) = named else {
            return Ok(Self::new(text, None));
        };
        let Some(wire) = Wire::from_name(name) else {
            let names = Wire::ALL.map(Wire::name).join(", ");
            let problem = format!("`{name}` is no wire; there are {names}");
            return Err(ConfigError::Value { key: "upstream".to_owned(), problem });
        };
        Ok(Self::new(url, Some(wire)))
    }
}
