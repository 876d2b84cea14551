//! The providers and local servers that requests are sent to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use photic::Wire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::schema;
use super::secret::SecretText;

/// Chooses if an upstream gets the keys of callers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialSource {
    /// The key of the caller is passed on, whoever issued it.
    Passthrough,
    /// Nothing of the caller is passed on: no key, no cookie and no account.
    Own,
}

/// Chooses the version of HTTP.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub enum HttpChoice {
    /// HTTP/2 if the upstream offers it by TLS, else HTTP/1.1.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    Http1,
    /// HTTP/2, also without TLS.
    #[serde(rename = "2")]
    Http2,
}

/// A provider or local server that requests are sent to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct UpstreamConfig {
    /// Name in `[[model]]`, replies, metrics and logs. If unset, the host of the URL.
    #[serde(default)]
    #[schemars(example = &"openai")]
    pub name: Option<String>,
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
    /// Globs of paths whose requests go here although they name no model, without the version:
    /// `/embeddings`, `/audio/*`, `/files*`.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Key of the upstream, sent instead of that of the caller in the header that its wire has for it.
    /// `${NAME}` is replaced by an environment variable. `file:PATH` is read again when it changes.
    #[serde(default)]
    #[schemars(example = "${OPENAI_API_KEY}")]
    pub key: Option<SecretText>,
    /// Headers that are set in every request, like `{ api-key = "${AZURE_KEY}" }`. Values are written
    /// like `key`.
    #[serde(default)]
    pub headers: BTreeMap<String, SecretText>,
    /// Source of the key in requests. If unset, it is `own` for an upstream with a key, and for others
    /// the key of the caller is passed on, unless another provider issued it and the request is
    /// translated.
    #[serde(default)]
    #[schemars(example = &"passthrough")]
    pub credentials: Option<CredentialSource>,
    /// PEM file of the authorities to trust instead of those of the system.
    #[serde(default)]
    #[schemars(example = "/etc/photic/ca.pem")]
    pub ca: Option<PathBuf>,
    /// PEM file of a client certificate and the certificates of its authorities.
    #[serde(default)]
    #[schemars(example = "/etc/photic/client.pem")]
    pub certificate: Option<PathBuf>,
    /// PEM file of the private key of `certificate`.
    #[serde(default)]
    #[schemars(example = "/etc/photic/client.key")]
    pub certificate_key: Option<PathBuf>,
    /// Host name that its certificate is for, if that is not the host of the URL.
    #[serde(default)]
    #[schemars(example = "api.internal")]
    pub tls_name: Option<String>,
    /// URL of an HTTP proxy, or `none`. If unset, `HTTPS_PROXY` and `NO_PROXY` of the environment apply
    /// to `https` URLs.
    #[serde(default)]
    #[schemars(example = "http://proxy:3128")]
    pub proxy: Option<SecretText>,
    /// Version of HTTP.
    #[serde(default)]
    pub http: HttpChoice,
    /// Seconds to connect. If unset, `timeouts.connect_s`.
    #[serde(default)]
    pub connect_s: Option<u32>,
    /// Seconds until the head of its reply arrives. If unset, `timeouts.answer_s`.
    #[serde(default)]
    pub answer_s: Option<u32>,
    /// Seconds for a whole request with its reply. If unset, there is no limit.
    #[serde(default)]
    pub total_s: Option<u32>,
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
            name: None,
            url: url.into(),
            wire,
            models: Vec::new(),
            unversioned: false,
            paths: Vec::new(),
            key: None,
            headers: BTreeMap::new(),
            credentials: None,
            ca: None,
            certificate: None,
            certificate_key: None,
            tls_name: None,
            proxy: None,
            http: HttpChoice::default(),
            connect_s: None,
            answer_s: None,
            total_s: None,
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
