//! `photic mock`: runs the test provider, or makes its test pictures.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_mock::{Chart, Mock, Options, Screen};
use photic_pixels::Refusal;

use crate::arguments::MockOptions;
use crate::output::{is_standard_output, write_to};

/// Runs the provider until it is stopped, or makes one chart or screenshot.
pub(crate) fn run(options: &MockOptions) -> anyhow::Result<ExitCode> {
    match (options.chart, options.screen) {
        (Some(seed), _) => {
            let chart = Chart::of(seed);
            made(options, || chart.png(), &chart.words())
        }
        (None, Some(seed)) => {
            let screen = Screen::of(seed);
            made(options, || screen.png(), screen.number())
        }
        (None, None) if options.output.is_some() => {
            anyhow::bail!("`--output` needs `--chart` or `--screen`")
        }
        (None, None) => serve(options),
    }
}

/// Runs the provider.
fn serve(options: &MockOptions) -> anyhow::Result<ExitCode> {
    let (models, misbehave) = (options.models.clone(), options.misbehave.clone());
    let (port, wires) = (options.port, options.wires.clone());
    let mock = Mock::start(Options { port, models, wires, misbehave, ..Options::default() })
        .with_context(|| format!("cannot listen on port {port} of loopback"))?;
    crate::output::print(format!("{}\n", mock.url()).as_bytes())?;
    mock.until_signal().context("cannot wait for a signal")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a picture if requested, and prints what it shows.
fn made(
    options: &MockOptions,
    png: impl FnOnce() -> Result<Vec<u8>, Refusal>,
    words: &str,
) -> anyhow::Result<ExitCode> {
    if let Some(path) = &options.output {
        let png = png().map_err(|refusal| anyhow::anyhow!(refusal.says))?;
        write_to(path, &png)?;
        if is_standard_output(path) {
            anstream::eprintln!("{words}");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}
