//! Reads request bodies and detects what they are.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use photic::Wire;

use crate::arguments::SourceOptions;
use crate::body_format::BodyFormat;
use crate::style::Hint;

/// A body and its name for messages.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

/// Reads a file, or standard input for `-` or `None`.
pub(crate) fn read_bytes(file: Option<&Path>, example: &'static str) -> anyhow::Result<Input> {
    if let Some(path) = file.filter(|path| path.as_os_str() != "-") {
        let name = path.display().to_string();
        let body = std::fs::read(path).with_context(|| format!("cannot read `{name}`"));
        // The hint is added last: `style::error` looks at the outermost context.
        let body = if name.contains("://") {
            body.context(Hint(
                "photic does not fetch URLs; pipe the body in: `curl -sL URL | photic … -`",
            ))?
        } else {
            body?
        };
        return Ok(Input { name, body });
    }
    let mut stdin = std::io::stdin();
    if file.is_none() && stdin.is_terminal() {
        bail!(anyhow::anyhow!("nothing to read").context(Hint(example)));
    }
    let mut body = Vec::new();
    stdin.read_to_end(&mut body).context("cannot read standard input")?;
    Ok(Input { name: "standard input".to_owned(), body })
}

impl Input {
    pub(crate) fn read(options: &SourceOptions) -> anyhow::Result<Self> {
        read_bytes(
            options.file.as_deref(),
            "pass a file, or pipe a request body in: `photic check request.json`",
        )
    }

    /// The format of the body: as given, or detected; `None` if it is not known.
    pub(crate) fn format(&self, options: &SourceOptions) -> Option<BodyFormat> {
        let dump = || photic::detect_dump(&self.body).map(BodyFormat::Dump);
        let wire = || photic::detect(&self.body).map(BodyFormat::Wire);
        options.from.or_else(dump).or_else(wire)
    }

    /// The wire of a request body.
    pub(crate) fn wire(&self, options: &SourceOptions) -> anyhow::Result<Wire> {
        match self.format(options) {
            Some(BodyFormat::Wire(wire)) => Ok(wire),
            Some(BodyFormat::Dump(dump)) => {
                let says =
                    format!("`{}` is a conversation stored by {dump}, not a request", self.name);
                bail!(anyhow::anyhow!(says).context(Hint(
                    "convert it to a request first: `photic lower FILE --to openai-chat`"
                )))
            }
            None => self.unknown(),
        }
    }

    /// The error for a body in no known format.
    pub(crate) fn unknown<T>(&self) -> anyhow::Result<T> {
        let name = &self.name;
        if serde_json::from_slice::<serde::de::IgnoredAny>(&self.body).is_err() {
            bail!(
                anyhow::anyhow!("`{name}` is not JSON")
                    .context(Hint("pass the body of one request, as it is sent to the API"))
            );
        }
        bail!(
            anyhow::anyhow!("`{name}` is not a request in a known format")
                .context(Hint("pass the format with `--from`, such as `--from openai-chat`"))
        )
    }
}
