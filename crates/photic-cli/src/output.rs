//! Writes data to standard output.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

/// Returns the file that `--output` names; `None` for `-`, standard output.
pub(crate) fn named_file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| !is_standard_output(path))
}

/// Returns `true` if `--output` names standard output.
pub(crate) fn is_standard_output(output: &Path) -> bool {
    output.as_os_str() == "-"
}

/// Writes bytes to a file, or to standard output if it is named `-`.
pub(crate) fn write_to(output: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if is_standard_output(output) {
        return print(bytes).map(|_| ());
    }
    std::fs::write(output, bytes).with_context(|| format!("cannot write `{}`", output.display()))
}

/// Writes bytes.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line.
pub(crate) fn print_line(line: &str) -> anyhow::Result<ExitCode> {
    print(format!("{line}\n").as_bytes())
}

/// Writes indented JSON.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<ExitCode> {
    print(format!("{value:#}\n").as_bytes())
}
