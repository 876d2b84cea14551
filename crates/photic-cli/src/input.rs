//! Reading the body, and finding out what it is.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use photic::{Dump, Finding, Transcript, Wire};
use serde::Serialize;

use crate::arguments::SourceOptions;
use crate::style::Hint;

/// A body and its name for messages.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A request of a wire.
    Wire(Wire),
    /// A conversation as a framework stores it.
    Dump(Dump),
}

impl Shape {
    /// The name of every shape.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Wire::ALL.map(Wire::name).into_iter().chain(Dump::ALL.map(Dump::name))
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let dump = || Dump::from_name(name).map(Self::Dump);
        Wire::from_name(name).map(Self::Wire).or_else(dump)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wire(wire) => wire.name(),
            Self::Dump(dump) => dump.name(),
        }
    }

    /// Reads a body of that shape.
    pub(crate) fn lift(self, body: &[u8]) -> (Transcript<'_>, Vec<Finding>) {
        match self {
            Self::Wire(wire) => photic::lift(wire, body),
            Self::Dump(dump) => photic::lift_dump(dump, body),
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
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

    /// What the body is, if it is anything that can be sent.
    pub(crate) fn shape(&self, options: &SourceOptions) -> Option<Shape> {
        let dump = || photic::detect_dump(&self.body).map(Shape::Dump);
        let wire = || photic::detect(&self.body).map(Shape::Wire);
        options.from.or_else(dump).or_else(wire)
    }

    /// The wire of a request body. A dump has none.
    pub(crate) fn wire(&self, options: &SourceOptions) -> anyhow::Result<Wire> {
        match self.shape(options) {
            Some(Shape::Wire(wire)) => Ok(wire),
            Some(Shape::Dump(dump)) => {
                let says =
                    format!("`{}` is a conversation as {dump} stores it, no request", self.name);
                bail!(anyhow::anyhow!(says).context(Hint(
                    "make a request of it first: `photic lower FILE --to openai-chat`"
                )))
            }
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
