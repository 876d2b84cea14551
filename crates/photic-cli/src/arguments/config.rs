//! The arguments of `photic config`.

use clap::Args;

use super::serve::ServeOptions;

/// Show which settings hold, and where each of them comes from: a flag, a variable, the file or the
/// default
///
/// Flags override environment variables, which override the settings file. Without `--config`, the
/// file is the one that `PHOTIC_CONFIG` names, or `~/.config/photic/photic.toml`. A `photic.toml`
/// in the current folder is not read, because its author would decide where your keys are sent.
/// Keys are never shown.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic config                                show what `photic serve` and `photic run` would use
  photic config --config team.toml --json      … with another file, as JSON
  photic config --listen 0.0.0.0:4141          … with a flag of `photic serve`
")]
pub(crate) struct ConfigOptions {
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
