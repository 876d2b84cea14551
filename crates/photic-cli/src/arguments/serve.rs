//! The arguments of `photic serve`, and options that `photic run` shares with it.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use photic_gateway::{LogFormat, UpstreamConfig};

/// Run the gateway: agents that use it as their base URL see every image
///
/// Requests go to the provider of their wire, with the caller's own key. If an upstream is named
/// here or in the settings, requests go nowhere else. The response header `x-photic-fixes` counts
/// the repairs; a request with `x-photic-off: 1` passes unchanged.
#[derive(Clone, Debug, Args)]
#[command(before_help = "\
Examples:
  photic serve                                                  in front of the providers
  photic serve --upstream http://127.0.0.1:1234                 in front of your own server
  photic serve --upstream openai-chat=http://127.0.0.1:8080/v1  … for one wire
  OPENAI_BASE_URL=http://127.0.0.1:4141/v1 my-agent             run an agent through it
  photic serve --log json                                       log every request and repair
")]
pub(crate) struct ServeOptions {
    /// Address to listen on [default: 127.0.0.1:4141]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// URL that requests go to, `WIRE=` for those of one wire; may be repeated
    #[arg(long, value_name = "[WIRE=]URL")]
    pub(crate) upstream: Vec<UpstreamConfig>,
    /// Settings file; the one named by `PHOTIC_CONFIG`, or `~/.config/photic/photic.toml`, if
    /// omitted
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Allow callers without a key on an address beyond loopback
    #[arg(long)]
    pub(crate) open: bool,
    /// Log on standard error: warnings as text, every request as JSON or in the combined format, or
    /// nothing
    #[arg(long, value_name = "FORMAT", value_parser = log_format())]
    pub(crate) log: Option<LogFormat>,
    #[command(flatten)]
    pub(crate) record: RecordOptions,
}

/// Options of recording.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordOptions {
    /// Record conversations with their pictures; see `photic session`
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true,
        default_missing_value = "",
        value_parser = directory()
    )]
    record: Option<PathBuf>,
    /// Directory to record in; `photic` in the state directory of this system if omitted
    #[arg(long, value_name = "DIR", requires = "record")]
    store: Option<PathBuf>,
}

impl RecordOptions {
    /// Returns `true` if conversations are to be recorded.
    pub(crate) const fn is_wanted(&self) -> bool {
        self.record.is_some()
    }

    /// The named directory, by `--store DIR` or `--record=DIR`.
    pub(crate) fn directory(&self) -> Option<&Path> {
        let named = self.store.as_deref().or(self.record.as_deref());
        named.filter(|path| !path.as_os_str().is_empty())
    }
}

/// Parses a path that may be empty; the option without a value means the default directory.
fn directory() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Parses the option `--log`.
fn log_format() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(LogFormat::ALL.map(LogFormat::name))
        .map(|name| LogFormat::from_name(&name).unwrap_or_default())
}
