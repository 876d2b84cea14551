//! The arguments of `photic run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use photic_gateway::UpstreamConfig;

use super::serve::RecordOptions;

/// Run a command with a gateway in front of its providers, and say what it repaired
///
/// The base addresses that SDKs and agents read from the environment (`OPENAI_BASE_URL`,
/// `ANTHROPIC_BASE_URL` and their kin) lead to the gateway while the command runs; what they led to
/// before is where the gateway sends its requests. Exits as the command does: with its code, or 128
/// and the number of the signal that ended it; 127 if there is no such command.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic run -- claude                                       an agent that sees its screenshots
  OPENAI_BASE_URL=http://127.0.0.1:1234/v1 photic run -- python agent.py
  photic run --upstream http://127.0.0.1:1234 -- npm start   every wire, to a server of your own
  photic run --config models.toml -- claude --model qwen3-vl by model, and across wires
")]
pub(crate) struct RunOptions {
    /// Where requests go, `WIRE=` for those of one wire; may be repeated; comes before the
    /// environment
    #[arg(long, value_name = "[WIRE=]URL")]
    pub(crate) upstream: Vec<UpstreamConfig>,
    /// Settings; without it, the file that `PHOTIC_CONFIG` names, or your own:
    /// `~/.config/photic/photic.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The port of loopback; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) record: RecordOptions,
    /// Say nothing at the end
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}
