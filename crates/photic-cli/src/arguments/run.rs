//! The arguments of `photic run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use photic_gateway::UpstreamConfig;

use super::serve::RecordOptions;

/// Run a command behind a gateway of its own, and report what was repaired
///
/// While the command runs, the base URLs that SDKs and agents read from the environment
/// (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and others) point to the gateway, which forwards
/// requests to their previous values. Exits with the code of the command, or 128 plus the number of
/// the signal that ended it; 127 if there is no such command.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic run -- claude                                       an agent that sees its screenshots
  OPENAI_BASE_URL=http://127.0.0.1:1234/v1 photic run -- python agent.py
  photic run --upstream http://127.0.0.1:1234 -- npm start   send all wires to your own server
  photic run --config models.toml -- claude --model qwen3-vl route by model, across wires
")]
pub(crate) struct RunOptions {
    /// URL that requests go to, `WIRE=` for those of one wire; may be repeated; overrides the
    /// environment
    #[arg(long, value_name = "[WIRE=]URL")]
    pub(crate) upstream: Vec<UpstreamConfig>,
    /// Settings file; the one named by `PHOTIC_CONFIG`, or `~/.config/photic/photic.toml`, if
    /// omitted
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Port on loopback; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) record: RecordOptions,
    /// Print no summary at the end
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Command and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}
