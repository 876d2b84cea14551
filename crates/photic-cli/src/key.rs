//! `photic key`: makes keys for callers that a gateway knows from a file.

use std::process::ExitCode;

use anyhow::Context as _;
use photic_gateway::NewCallerKey;
use serde_json::json;

use crate::arguments::{KeyCommand, KeyOptions};
use crate::output::print_line;
use crate::style::{DIM, Hint};

/// Runs the command.
pub(crate) fn run(options: &KeyOptions) -> anyhow::Result<ExitCode> {
    let KeyCommand::New { name, json } = &options.command;
    let NewCallerKey { key, digest } = NewCallerKey::new(name)
        .with_context(|| format!("`{name}` cannot be the name of a caller"))
        .context(Hint("use up to 128 letters, digits, or `-._@:+/`"))?;
    if *json {
        return print_line(&json!({"name": name, "key": key, "digest": digest}).to_string());
    }
    anstream::eprintln!(
        "{DIM}the key of `{name}`, shown only once; its client sends it as its API key, or as \
         `x-photic-key`:{DIM:#}\n{key}\n{DIM}its entry for `callers.file`:{DIM:#}"
    );
    print_line(&format!("\n[[caller]]\nname = \"{name}\"\ndigest = \"{digest}\""))
}
