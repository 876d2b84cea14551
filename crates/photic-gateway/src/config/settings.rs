//! The settings file: all settings of a gateway.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::callers::{CallersConfig, OidcConfig};
use super::error::ConfigError;
use super::fetch::FetchConfig;
use super::fleet::FleetConfig;
use super::limits::{Limits, Timeouts};
use super::listening::{ReloadConfig, TlsConfig};
use super::models::{FailoverConfig, ModelConfig, ModelsConfig};
use super::openwop::OpenwopConfig;
use super::operate::{Admin, InspectConfig, LogFormat, Telemetry};
use super::prefixes::PathPrefixes;
use super::quota::QuotaConfig;
use super::record::RecordConfig;
use super::upstream::UpstreamConfig;
use super::{keys, schema};

/// The settings of a gateway.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on.
    pub listen: String,
    /// If true, the gateway may listen on an address that other machines can reach without requiring
    /// keys of callers (`callers.file`, `oidc.issuer`, `fleet.keys`). Everyone who reaches it can then
    /// use it. If false, the gateway does not start on such an address.
    pub open: bool,
    /// If true, clients without TLS may speak HTTP/2 from the first byte on (h2c), beside HTTP/1.1.
    pub h2c: bool,
    /// Host names that requests may use in `Host`, beside those of loopback. If empty, a gateway that
    /// other machines can reach accepts every name.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, like `https://chat.example`. Requests from all
    /// other web pages are refused.
    pub origins: Vec<String>,
    /// Format of the log on standard error.
    pub log: LogFormat,
    /// A listener for operators.
    pub admin: Admin,
    /// The inspector.
    pub inspect: InspectConfig,
    /// TLS for clients.
    pub tls: TlsConfig,
    /// Reading the settings again while the gateway runs.
    pub reload: ReloadConfig,
    /// Callers that are known without a database, and what they use.
    pub callers: CallersConfig,
    /// Callers that show a token of an identity provider.
    pub oidc: OidcConfig,
    /// Export of traces.
    pub telemetry: Telemetry,
    /// Limits of sizes and connections.
    pub limits: Limits,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Planning of requests.
    pub policy: Policies,
    /// Lessons that rejections by providers taught.
    pub learned: LearnedConfig,
    /// Fetching of images that requests name by URL.
    pub fetch: FetchConfig,
    /// Recording of conversations on disk.
    pub record: RecordConfig,
    /// The servers that several gateways share.
    pub fleet: FleetConfig,
    /// Quota of each tenant.
    pub quota: QuotaConfig,
    /// The openwop host.
    pub openwop: OpenwopConfig,
    /// Upstreams that requests are sent to. If there are none, a request goes to the provider of its
    /// wire, if its key belongs to that provider. If there are some, requests go nowhere else.
    pub upstream: Vec<UpstreamConfig>,
    /// Models with several upstreams or other names. A request for one of them goes to its upstreams.
    pub model: Vec<ModelConfig>,
    /// Lists of models, and requests that no setting names a model or path for.
    pub models: ModelsConfig,
    /// Sending requests for a `[[model]]` again.
    pub failover: FailoverConfig,
    /// Prefixes that request paths must begin with. They are secret, so the file has none.
    #[serde(skip)]
    pub prefixes: Option<PathPrefixes>,
    /// The programs that the gateway serves. `photic run` sets it.
    #[serde(skip)]
    pub serves: Serves,
}

/// The programs that a gateway serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serves {
    /// Any number, for any time. A conversation continues the recorded session with the same words.
    #[default]
    Everyone,
    /// One command, from its start to its end. A conversation that begins anew is a session of its
    /// own, and the usage of every reply is counted.
    OneCommand,
}

/// Lessons that rejections by providers taught.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnedConfig {
    /// File that lessons are kept in. If unset or empty, they are lost when the gateway stops. The
    /// `photic` command uses a file in the user's state directory by default.
    #[schemars(example = "lessons.json")]
    pub path: Option<PathBuf>,
    /// Days after which a lesson expires and the endpoint is tried again without it.
    pub days: u32,
}

/// Planning of requests.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policies {
    /// Policy by which images stay visible to the model: `all` (until a limit of the provider is
    /// reached), `priced`, `turns(K)` or `newest(N)`. The header `x-photic-policy` overrides it for a
    /// single request.
    pub retention: String,
    /// Number of newest tool images that `priced` always keeps.
    pub keep: usize,
    /// If true, prompt cache breakpoints are added to requests. If false, no field is added.
    pub marks: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4141".to_owned(),
            open: false,
            h2c: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            log: LogFormat::default(),
            admin: Admin::default(),
            inspect: InspectConfig::default(),
            tls: TlsConfig::default(),
            reload: ReloadConfig::default(),
            callers: CallersConfig::default(),
            oidc: OidcConfig::default(),
            telemetry: Telemetry::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            policy: Policies::default(),
            learned: LearnedConfig::default(),
            fetch: FetchConfig::default(),
            record: RecordConfig::default(),
            fleet: FleetConfig::default(),
            quota: QuotaConfig::default(),
            openwop: OpenwopConfig::default(),
            upstream: Vec::new(),
            model: Vec::new(),
            models: ModelsConfig::default(),
            failover: FailoverConfig::default(),
            prefixes: None,
            serves: Serves::default(),
        }
    }
}

impl Default for LearnedConfig {
    fn default() -> Self {
        Self { path: None, days: 30 }
    }
}

impl LearnedConfig {
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.path.clone().filter(|path| !path.as_os_str().is_empty())
    }
}

impl Default for Policies {
    fn default() -> Self {
        let default = photic::Policy::default();
        Self { retention: default.retention.to_string(), keep: default.floor, marks: default.marks }
    }
}

impl Config {
    /// Parses a configuration file.
    ///
    /// # Errors
    ///
    /// Fails if the text is not TOML, if a key does not exist, or if a value has the wrong type.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| ConfigError::toml(&error))?;
        keys::check(&table, &Self::schema())?;
        toml::from_str(text).map_err(|error| ConfigError::toml(&error))
    }

    /// Returns `true` if every request must show a key or token of its caller.
    pub(crate) fn requires_keys(&self) -> bool {
        let own = self.callers.file().is_some() || self.oidc.issuer().is_some();
        own || self.fleet.asks_for_keys()
    }

    /// Returns the JSON Schema (2020-12) of configuration files.
    pub fn schema() -> serde_json::Value {
        schema::schema::<Self>()
    }

    /// Returns a configuration file with every setting and its default.
    pub fn example() -> String {
        schema::example(&Self::schema())
    }
}

#[cfg(test)]
mod tests {
    use photic::Wire;

    use super::super::fetch::FetchMode;
    use super::*;

    #[test]
    fn everything_can_be_set() {
        let config = Config::parse(
            "listen = '0.0.0.0:80'\n[limits]\nbody_mib = 128\n[timeouts]\nidle_s = 5\n\
             [policy]\nretention = 'all'\n[fetch]\nmode = 'always'\nprivate = ['10.0.0.1:9000']\n[[upstream]]\nurl = 'http://h:1/v1'\n\
             wire = 'openai-chat'\nmodels = ['qwen*']",
        )
        .unwrap();
        assert_eq!(config.limits, Limits { body_mib: 128, ..Limits::default() });
        assert_eq!(config.timeouts.idle_s, 5);
        assert_eq!(config.fetch.mode, FetchMode::Always);
        assert_eq!(config.fetch.private, ["10.0.0.1:9000".parse().unwrap()]);
        assert_eq!(config.upstream[0].wire, Some(Wire::OpenAiChat));
    }

    #[test]
    fn nothing_has_to_be_set() {
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(UpstreamConfig::defaults().unwrap().len(), Wire::ALL.len());
    }

    #[test]
    fn unknown_keys_are_errors_that_help() {
        for (text, says) in [
            ("listn = ''", "unknown key `listn`; did you mean `listen`?"),
            ("[limit]\nbody_mib = 1", "unknown key `limit`; did you mean `limits`?"),
            ("[limits]\nbody_mb = 1", "unknown key `limits.body_mb`; did you mean `body_mib`?"),
            (
                "[[upstream]]\nurl = ''\nmodel = []",
                "unknown key `upstream.model`; did you mean `models`?",
            ),
            ("[fetch]\nhost = []", "unknown key `fetch.host`; did you mean `hosts`?"),
            ("zebra = 1", "unknown key `zebra`"),
        ] {
            assert_eq!(Config::parse(text).unwrap_err().to_string(), says);
        }
    }

    #[test]
    fn an_upstream_in_an_argument() {
        let read = |text: &str| text.parse::<UpstreamConfig>();
        assert_eq!(read("http://h/?a=b").unwrap().wire, None);
        let chat = read("openai-chat=http://h:1234").unwrap();
        assert_eq!((chat.wire, chat.url.as_str()), (Some(Wire::OpenAiChat), "http://h:1234"));
        assert!(read("chat=http://h").unwrap_err().to_string().contains("openai-chat"));
    }
}
