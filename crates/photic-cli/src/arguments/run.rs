//! The arguments of `photic run`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use photic_gateway::UpstreamConfig;

use super::serve::RecordOptions;

/// Run a command behind a gateway of its own, and report what was repaired
///
/// While the command runs, the base URLs that SDKs and agents read from the environment
/// (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and others) point to the gateway, which forwards
/// requests to their previous values. Agents that read their base URL from somewhere else get an
/// argument, or a changed copy of their configuration in a private folder. Exits with the code of
/// the command, or 128 plus the number of the signal that ended it; 127 if there is no such command.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic run -- claude                                       an agent that sees its screenshots
  OPENAI_BASE_URL=http://127.0.0.1:1234/v1 photic run -- python agent.py
  photic run --upstream http://127.0.0.1:1234 -- npm start   send all wires to your own server
  photic run --record --ui -- claude                         watch what the model sees
  photic run --print -- codex                                show what would be set
  photic run --print env                                     variables for `photic serve`
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
    /// Show recorded turns in a browser while the command runs, and print the address
    #[arg(long, requires = "record")]
    pub(crate) ui: bool,
    /// Write counts of what was done to this file at the end, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print no summary at the end
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print how the command would be run, or variables for a gateway of `photic serve`, and run
    /// nothing
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "text")]
    pub(crate) print: Option<PrintFormat>,
    /// Command and its arguments
    #[arg(value_name = "CMD", required_unless_present = "print", trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Output of `--print`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintFormat {
    /// The variables, arguments and files of `photic run`
    Text,
    /// Shell commands that point a later program to `photic serve`
    Env,
    /// Options of `docker run` that point a container to `photic serve`
    Docker,
}

impl RunOptions {
    /// The folder that was passed as the command, as in `photic run --record DIR CMD`.
    pub(crate) fn folder_as_command(&self) -> Option<&Path> {
        let first = self.command.first().filter(|_| self.record.is_wanted())?;
        Some(Path::new(first)).filter(|path| path.is_dir())
    }
}
