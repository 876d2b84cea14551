//! The arguments of `photic serve`, and what `photic run` shares with it.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use photic_gateway::{LogFormat, UpstreamConfig};

/// Serve as a gateway: agents that use it as their base address see every image
///
/// Requests go to the provider of their wire, with the caller's own key, unless an upstream is named
/// here or in the file: then they go nowhere else. `x-photic-fixes` on a reply says how much was repaired; a request with
/// `x-photic-off: 1` passes exactly.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic serve                                                  in front of the providers themselves
  photic serve --upstream http://127.0.0.1:1234                 in front of a server of your own
  photic serve --upstream openai-chat=http://127.0.0.1:8080/v1  … for one wire
  OPENAI_BASE_URL=http://127.0.0.1:4141/v1 my-agent             the agent, through it
  photic serve --log json                                       a line for every request and fix
")]
pub(crate) struct ServeOptions {
    /// The address to listen on [default: 127.0.0.1:4141]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Where requests go, `WIRE=` for those of one wire; may be repeated
    #[arg(long, value_name = "[WIRE=]URL")]
    pub(crate) upstream: Vec<UpstreamConfig>,
    /// Settings; without it, the file that `PHOTIC_CONFIG` names, or your own:
    /// `~/.config/photic/photic.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Let anybody use it who reaches an address beyond loopback, without a key
    #[arg(long)]
    pub(crate) open: bool,
    /// What to tell on standard error: warnings as text, every request as JSON, or nothing
    #[arg(long, value_name = "FORMAT", value_parser = log_format())]
    pub(crate) log: Option<LogFormat>,
    #[command(flatten)]
    pub(crate) record: RecordOptions,
}

/// Whether conversations are kept.
#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// Keep conversations, with their pictures, in this directory [default: the folder for state];
    /// see `photic session`
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = directory()
    )]
    pub(crate) record: Option<PathBuf>,
}

/// A path that may be empty: the flag without a value stands for the usual place.
fn directory() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

fn log_format() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(LogFormat::ALL.map(LogFormat::name))
        .map(|name| LogFormat::from_name(&name).unwrap_or_default())
}
