//! Writes data to standard output.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;

/// Writes bytes.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line.
#[cfg(feature = "fleet")]
pub(crate) fn print_line(line: &str) -> anyhow::Result<ExitCode> {
    print(format!("{line}\n").as_bytes())
}

/// Writes indented JSON.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<ExitCode> {
    print(format!("{value:#}\n").as_bytes())
}
