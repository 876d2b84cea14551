//! The command line as a person meets it: words, exit codes, and what the README promises.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

mod batch;
mod capability;
mod commands;
mod doctor;
mod dumps;
mod explain;
mod grammar;
mod inspector;
mod mcp;
#[cfg(unix)]
mod mock;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
mod preview;
mod probe;
mod profiles;
mod render_worker;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod run_agents;
#[cfg(unix)]
mod run_summary;
mod serve;
mod session;
mod simulate;
mod tools;
mod view;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The binary under test, with empty folders for state and settings.
fn photic() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_photic"));
    let state = format!("{}/state-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    command.env("NO_COLOR", "1").env("XDG_CONFIG_HOME", format!("{state}/config"));
    command.env("XDG_STATE_HOME", state).env_remove("PHOTIC_CONFIG").current_dir(root());
    command
}

/// The root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> Output {
    photic().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
