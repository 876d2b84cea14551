//! Reading the body, and finding out what it is.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use photic::Wire;

use crate::arguments::SourceOptions;
use crate::style::Hint;

/// A body and its name for messages.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

/// Reads a file, or standard input for `-` or nothing.
pub(crate) fn read_bytes(file: Option<&Path>, example: &'static str) -> anyhow::Result<Input> {
    if let Some(path) = file.filter(|path| path.as_os_str() != "-") {
        let name = path.display().to_string();
        let body = std::fs::read(path).with_context(|| format!("cannot read `{name}`"));
        // The hint goes last: it is the outermost context that `style::error` looks at.
        let body = if name.contains("://") {
            body.context(Hint(
                "photic does not fetch; pipe it in: `curl -sL ADDRESS | photic … -`",
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
            "name a file, or pipe a request body in: `photic check request.json`",
        )
    }

    /// The wire of a request body.
    pub(crate) fn wire(&self, options: &SourceOptions) -> anyhow::Result<Wire> {
        match options.from.or_else(|| photic::detect(&self.body)) {
            Some(wire) => Ok(wire),
            None => self.unknown(),
        }
    }

    /// The body is of no wire we know.
    pub(crate) fn unknown<T>(&self) -> anyhow::Result<T> {
        let name = &self.name;
        if serde_json::from_slice::<serde::de::IgnoredAny>(&self.body).is_err() {
            bail!(
                anyhow::anyhow!("`{name}` is not JSON")
                    .context(Hint("pass the body of one request as it goes over the wire"))
            );
        }
        bail!(anyhow::anyhow!("`{name}` looks like no request of a wire photic knows").context(
            Hint("name its wire with `--from openai-chat`, `openai-responses` or `anthropic`")
        ))
    }
}
