//! The arguments of `photic ui`.

use std::path::PathBuf;

use clap::Args;

/// Show recorded sessions in a browser, as the model saw them
///
/// Serves pages on loopback until it is stopped, and prints their address. The address has a token:
/// without it nothing is shown. New turns appear while an agent runs. Nothing is sent anywhere.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic ui                                      the sessions of this machine
  photic ui sessions/ --open                     those in a folder, in the browser
  photic run --record --ui -- claude             … while an agent runs
  photic session export last --html > session.html     one session as a file
")]
pub(crate) struct UiOptions {
    /// Directory with the sessions; `photic` in the state directory of this system if omitted
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Port on loopback; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Open the address in the browser
    #[arg(long)]
    pub(crate) open: bool,
}
