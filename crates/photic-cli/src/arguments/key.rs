//! The arguments of `photic key`.

use clap::{Args, Subcommand};

/// Make keys for the callers of a gateway
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic key new ci                            print a new key, and its entry for the file of callers
  photic key new ci >> callers.toml            append the entry; the key is shown on standard error
")]
pub(crate) struct KeyOptions {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

/// The subcommands of `photic key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key for a caller; it is shown once, and the file of callers gets its digest
    #[command(before_help = "\
Examples:
  photic key new ci >> callers.toml            append the entry; the key is shown on standard error
  photic key new ci --json                     print the key and its digest
")]
    New {
        /// Name of the caller, as in logs and metrics
        #[arg(value_name = "NAME")]
        name: String,
        /// Print the key and the digest as JSON
        #[arg(long)]
        json: bool,
    },
}
