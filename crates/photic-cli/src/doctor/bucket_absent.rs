//! `photic doctor --store s3://…` in a build without the feature `fleet`: an error.

use std::process::ExitCode;

use crate::style::Hint;

/// Fails: this build cannot connect to buckets.
pub(super) fn run(address: &str, _json: bool) -> anyhow::Result<ExitCode> {
    let hint = Hint("`cargo install --locked photic-cli` builds it with every feature");
    let missing = format!("cannot examine `{address}`: this photic was built without `fleet`");
    Err(anyhow::anyhow!(missing).context(hint))
}
