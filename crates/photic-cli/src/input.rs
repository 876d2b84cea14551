//! Reads request bodies and detects what they are.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use photic::{Code, Wire};
use photic_doctor::SessionFormat;

use crate::arguments::SourceOptions;
use crate::body_format::BodyFormat;
use crate::report::UnknownFormat;
use crate::style::Hint;

/// A body and its name for messages.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    /// The file; `None` for standard input.
    path: Option<PathBuf>,
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
        return Ok(Input { name, body, path: Some(path.to_owned()) });
    }
    let mut stdin = std::io::stdin();
    if file.is_none() && stdin.is_terminal() {
        bail!(anyhow::anyhow!("nothing to read").context(Hint(example)));
    }
    let mut body = Vec::new();
    stdin.read_to_end(&mut body).context("cannot read standard input")?;
    Ok(Input { name: "standard input".to_owned(), body, path: None })
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
                bail!(anyhow::Error::new(UnknownFormat(says)).context(Hint(
                    "convert it to a request first: `photic lower FILE --to openai-chat`"
                )))
            }
            None => self.unknown(),
        }
    }

    /// The error for a body in no known format.
    pub(crate) fn unknown<T>(&self) -> anyhow::Result<T> {
        let name = &self.name;
        let error = |says: String, hint: &'static str| {
            anyhow::Error::new(UnknownFormat(says)).context(Hint(hint))
        };
        if let Some(format) = self.session_format() {
            let format = format.name();
            return Err(error(
                format!("`{name}` is a session of {format}, not a request"),
                "run `photic doctor FILE` to check the session of an agent",
            ));
        }
        if serde_json::from_slice::<serde::de::IgnoredAny>(&self.body).is_err() {
            return Err(error(
                format!("`{name}` is not JSON"),
                "pass the body of one request, as it is sent to the API",
            ));
        }
        Err(error(
            format!("`{name}` is not a request in a known format"),
            "pass the format with `--from`, such as `--from openai-chat`",
        ))
    }

    /// The format, if this is the session file of an agent.
    fn session_format(&self) -> Option<SessionFormat> {
        let format = photic_doctor::detect(self.path.as_deref()?).ok()?;
        Some(format).filter(|format| !matches!(format, SessionFormat::Request(_)))
    }

    /// An error if the body is a session of an agent, or not a request of the named wire.
    pub(crate) fn refuse_other_formats(&self, options: &SourceOptions) -> anyhow::Result<()> {
        let Some(BodyFormat::Wire(named)) = options.from else { return Ok(()) };
        let likely = photic::detect_dump(&self.body)
            .map(BodyFormat::Dump)
            .or_else(|| photic::detect(&self.body).map(BodyFormat::Wire));
        let (transcript, findings) = photic::lift(named, &self.body);
        let is_wrong = findings.iter().any(|finding| finding.code == Code::WrongWire);
        // Some bodies could be of several wires, until it comes to their media.
        let has_more = |other: BodyFormat| {
            other != BodyFormat::Wire(named)
                && other.lift(&self.body).0.media.len() > transcript.media.len()
        };
        if !is_wrong && !likely.is_some_and(has_more) {
            return Ok(());
        }
        let name = &self.name;
        let says = match likely {
            Some(likely) => {
                let likely = likely.name();
                format!("`{name}` is not a request of {named}; it looks like {likely}")
            }
            None if self.session_format().is_some() => return self.unknown(),
            None => format!("`{name}` is not a request of {named}"),
        };
        let hint = Hint("name its format with `--from`, or leave it out to have it detected");
        bail!(anyhow::Error::new(UnknownFormat(says)).context(hint))
    }
}
