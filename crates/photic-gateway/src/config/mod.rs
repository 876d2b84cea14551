//! What can be set, in `photic.toml` or by the host. Unknown keys are errors: a setting that is
//! silently ignored is worse than none.

mod fetch;
mod fleet;
mod keys;
mod openwop;
mod operate;
mod prefixes;
mod quota;
mod record;
mod schema;

pub use operate::{Admin, ExportHeaders, LogFormat, Telemetry};

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use photic::Wire;

pub use fetch::{FetchConfig, FetchMode};
pub use fleet::FleetConfig;
pub use openwop::OpenwopConfig;
pub use prefixes::PathPrefixes;
pub use quota::QuotaConfig;
pub use record::RecordConfig;

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

/// What is too much.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest request body, in MiB.
    pub body_mib: u32,
    /// The memory for everything that requests make the gateway hold, in MiB: bodies as they arrive, fetched
    /// pictures, pixels, replies that are translated, caches. 0 finds it out: seven eighths of what the
    /// container may have less 192, or a quarter of the machine's memory, and 2048 at most. One caller gets
    /// at most half while others need some; who finds no room waits a moment, and is told to come again.
    pub memory_mib: u32,
    /// What prepared pictures may take together, in MiB, so that later turns need not make them again; at
    /// most a sixteenth of `memory_mib`.
    pub pictures_mib: u32,
    /// The most connections of callers at once; fewer, where the process may not open as many files.
    /// Beyond that those go first that have not stated a request, and who comes then is told to come
    /// again. Operators' own door has 64 of its own.
    pub connections: u32,
    /// The most connections of one address at once, unless it is loopback's, or callers show keys
    /// (`fleet.keys`). Behind a proxy all have the proxy's address.
    pub connections_per_peer: u32,
}

/// What is too late, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to an upstream.
    pub connect_s: u32,
    /// For the head of a reply.
    pub answer_s: u32,
    /// Between two pieces of a body, either way; and for a caller that does not read its reply. A request
    /// body has to come within that and what it takes at 4 KiB a second.
    pub idle_s: u32,
    /// For the pixels of one request; what is not made by then gives way to a notice.
    pub pixels_s: u32,
    /// For requests under way when the gateway is told to stop.
    pub drain_s: u32,
    /// For the head of a request, once it has begun.
    pub header_s: u32,
    /// For a connection between two requests. Longer than clients keep theirs: whoever closes first
    /// loses no request.
    pub keep_alive_s: u32,
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

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is no TOML, or a value has the wrong type.
    #[error("{0}")]
    Toml(String),
    /// A key means nothing.
    #[error("unknown key `{key}`{}", keys::suggestion(.instead.as_deref()))]
    UnknownKey {
        /// The key, with the tables around it.
        key: String,
        /// What was probably meant.
        instead: Option<String>,
    },
    /// A value that cannot be used.
    #[error("`{key}`: {problem}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
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

impl Limits {
    /// The memory budget in MiB, found out where nobody says it.
    pub(crate) fn memory_mib(&self) -> u32 {
        if self.memory_mib == 0 { crate::memory::default_mib() } else { self.memory_mib }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_mib: 64,
            memory_mib: 0,
            pictures_mib: 64,
            connections: 1024,
            connections_per_peer: 256,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_s: 10,
            answer_s: 600,
            idle_s: 300,
            pixels_s: 20,
            drain_s: 30,
            header_s: 15,
            keep_alive_s: 120,
        }
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
        keys::check(&table)?;
        toml::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))
    }

    /// What a configuration file may hold, as a JSON Schema (2020-12).
    pub fn schema() -> serde_json::Value {
        schema::schema()
    }

    /// A configuration file with every setting and its default.
    pub fn example() -> String {
        schema::example()
    }
}

impl UpstreamConfig {
    /// The provider of each wire: where requests go if nobody names an upstream.
    pub fn defaults() -> Result<Vec<Self>, ConfigError> {
        Config::parse(include_str!("../../data/defaults.toml")).map(|config| config.upstream)
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

#[cfg(test)]
mod tests {
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
