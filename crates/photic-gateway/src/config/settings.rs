//! All settings of a gateway together.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::fetch::FetchConfig;
use super::fleet::FleetConfig;
use super::limits::{Limits, Timeouts};
use super::openwop::OpenwopConfig;
use super::operate::{Admin, LogFormat, Telemetry};
use super::prefixes::PathPrefixes;
use super::quota::QuotaConfig;
use super::record::RecordConfig;
use super::upstream::UpstreamConfig;
use super::{keys, schema};

/// The settings of a gateway.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen on.
    pub listen: String,
    /// Whether anybody who reaches it may use it, where the address can be reached from other
    /// machines and callers show no keys (`fleet.keys`). Without it the gateway does not start so.
    pub open: bool,
    /// Names that callers may have for this gateway in `Host`, beside those of loopback. A gateway
    /// that other machines can reach answers to every name, unless some are listed.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, like `https://chat.example`. Pages of all others
    /// are refused.
    pub origins: Vec<String>,
    /// What is told on standard error.
    pub log: LogFormat,
    /// A door for operators.
    pub admin: Admin,
    /// Traces.
    pub telemetry: Telemetry,
    /// What is too much.
    pub limits: Limits,
    /// What is too late.
    pub timeouts: Timeouts,
    /// How requests are planned.
    pub policy: Policies,
    /// What rejections taught.
    pub learned: LearnedConfig,
    /// Whether pictures are fetched that came as addresses.
    pub fetch: FetchConfig,
    /// Whether conversations are kept.
    pub record: RecordConfig,
    /// The servers that many gateways share.
    pub fleet: FleetConfig,
    /// What each tenant may use.
    pub quota: QuotaConfig,
    /// Whether the gateway is an openwop host, too.
    pub openwop: OpenwopConfig,
    /// Where requests go. Without any, each goes to the provider of its wire, if its key is one of
    /// that provider's; with any, nowhere else.
    pub upstream: Vec<UpstreamConfig>,
    /// Paths that requests have to begin with; not in the file, for they are secret.
    #[serde(skip)]
    pub prefixes: Option<PathPrefixes>,
}

/// What rejections taught.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnedConfig {
    /// The file it is kept in; without one, or with an empty name, it is forgotten at the end. The
    /// `photic` command has one in the folder for state, unless told otherwise.
    #[schemars(example = "lessons.json")]
    pub path: Option<PathBuf>,
    /// How many days it holds; then the endpoint gets another chance.
    pub days: u32,
}

/// How requests are planned.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policies {
    /// How long images stay in sight: `all` (until a limit of the provider is met), `priced`,
    /// `turns(K)` or `newest(N)`. The header `x-photic-policy` chooses for a single request.
    pub retention: String,
    /// The newest tool images that `priced` always keeps.
    pub keep: usize,
    /// Whether to mark where the provider's cache should keep a prefix. Off: bodies gain no fields.
    pub marks: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4141".to_owned(),
            open: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            log: LogFormat::default(),
            admin: Admin::default(),
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
            prefixes: None,
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
    /// Reads a configuration file.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))?;
        keys::check(&table, &Self::schema())?;
        toml::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))
    }

    /// What a configuration file may hold, as a JSON Schema (2020-12).
    pub fn schema() -> serde_json::Value {
        schema::schema::<Self>()
    }

    /// A configuration file with every setting and its default.
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
