//! `photic extproc`: runs the external processor for Envoy until it is stopped.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_extproc::{ExternalProcessor, Settings};

use crate::arguments::ExtprocOptions;
use crate::serve::{raise_open_files, shutdown_signal};

/// Bytes of a MiB.
const MIB: usize = 1 << 20;

/// Runs the command.
pub(crate) fn run(options: &ExtprocOptions) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::default();
    settings.policy = options.retention.policy()?;
    settings.max_body = usize::from(options.max_body) * MIB;
    settings.memory = (options.memory as usize).saturating_mul(MIB);
    settings.too_large = options.too_large;
    raise_open_files();
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    runtime.block_on(serve(&options.listen, settings))?;
    Ok(ExitCode::SUCCESS)
}

/// Listens and answers Envoy.
async fn serve(listen: &str, settings: Settings) -> anyhow::Result<()> {
    let stop = shutdown_signal()?;
    let processor = ExternalProcessor::bind(listen, settings).await;
    let processor = processor.with_context(|| format!("cannot listen on `{listen}`"))?;
    // The log may have no reader.
    let address = processor.address();
    let _ = writeln!(anstream::stderr(), "photic: external processor on {address}, gRPC");
    processor.serve(stop).await;
    Ok(())
}
