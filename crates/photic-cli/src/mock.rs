//! `photic mock`: a strict provider on loopback, and the charts to ask it about.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_mock::{Chart, Mock, Options};

use crate::arguments::MockOptions;

/// Serves until it is told to stop, or makes one chart.
pub(crate) fn run(options: &MockOptions) -> anyhow::Result<ExitCode> {
    match options.chart {
        Some(seed) => chart(options, seed),
        None => serve(options),
    }
}

fn serve(options: &MockOptions) -> anyhow::Result<ExitCode> {
    let (models, misbehave) = (options.models.clone(), options.misbehave.clone());
    let (port, wires) = (options.port, options.wires.clone());
    let mock = Mock::start(Options { port, models, wires, misbehave, ..Options::default() })
        .with_context(|| format!("cannot listen on port {port} of loopback"))?;
    crate::print(format!("{}\n", mock.url()).as_bytes())?;
    mock.until_signal().context("cannot wait for a signal")?;
    Ok(ExitCode::SUCCESS)
}

fn chart(options: &MockOptions, seed: u64) -> anyhow::Result<ExitCode> {
    let chart = Chart::of(seed);
    if let Some(path) = &options.output {
        let png = chart.png().map_err(|refusal| anyhow::anyhow!(refusal.says))?;
        std::fs::write(path, png).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", chart.words()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}
