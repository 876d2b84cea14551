//! The formats of sessions: which one a file is, and where in a record media stand.
//!
//! One file a format: what its records look like, and what of them the agent sends. They read;
//! they decide nothing.

mod claude_code;
mod codex;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
mod qwen_code;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use photic::json::{Doc, Kind, Value};
use photic::transcript::Role;
use photic::{Slot, Wire};

use crate::error::Error;
use crate::text::Lines;
use crate::{request, table};

/// Whose session a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Claude Code: lines.
    ClaudeCode,
    /// Codex: lines ("rollouts").
    Codex,
    /// pi and oh-my-pi: lines.
    Pi,
    /// Gemini CLI: lines, or one document.
    GeminiCli,
    /// qwen-code: lines.
    QwenCode,
    /// opencode: a database.
    OpenCode,
    /// goose: a database.
    Goose,
    /// The body of one request.
    Request(Wire),
}

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// A record a line.
    Lines,
    /// One record.
    Document,
    /// A record a row.
    Table(table::Table),
}

impl Format {
    /// Every format of sessions.
    pub const SESSIONS: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::GeminiCli,
        Self::QwenCode,
        Self::OpenCode,
        Self::Goose,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::OpenCode => "opencode",
            Self::Goose => "goose",
            Self::Request(_) => "request",
        }
    }

    /// The versions whose files were looked at.
    pub const fn versions(self) -> &'static str {
        match self {
            Self::ClaudeCode => "2.0.76",
            Self::Codex => "0.64.0, 0.166.0",
            Self::Pi => "0.73.1 (session versions 2 and 3)",
            Self::GeminiCli => "0.61.0",
            Self::QwenCode => "0.15.10",
            Self::OpenCode => "1.18.33",
            Self::Goose => "the public source of 2026",
            Self::Request(_) => "every wire",
        }
    }

    /// What a file is held against, for whoever has one that is none of them.
    pub fn looked_for() -> String {
        let names: Vec<&str> = Self::SESSIONS.iter().map(|format| format.name()).collect();
        let wires: Vec<String> = Wire::ALL.iter().map(ToString::to_string).collect();
        format!("sessions of {}, and request bodies of {}", names.join(", "), wires.join(", "))
    }

    /// The wire that the agent speaks for as long as no model says otherwise.
    pub(crate) const fn wire(self) -> Option<Wire> {
        match self {
            Self::ClaudeCode => Some(Wire::Anthropic),
            Self::Codex => Some(Wire::OpenAiResponses),
            Self::GeminiCli => Some(Wire::Gemini),
            Self::QwenCode => Some(Wire::OpenAiChat),
            Self::Request(wire) => Some(wire),
            Self::Pi | Self::OpenCode | Self::Goose => None,
        }
    }

    /// Whether an index somewhere else knows at which byte a line begins: then a line that becomes
    /// shorter is filled up with blanks.
    pub(crate) const fn keeps_offsets(self) -> bool {
        matches!(self, Self::Codex)
    }

    /// What a record says.
    pub(crate) fn read<'d, 'a>(self, root: Value<'d, 'a>) -> Entry<'d, 'a> {
        match self {
            Self::ClaudeCode => claude_code::read(root),
            Self::Codex => codex::read(root),
            Self::Pi => pi::read(root),
            Self::GeminiCli => gemini_cli::read(root),
            Self::QwenCode => qwen_code::read(root),
            Self::OpenCode => opencode::read(root),
            Self::Goose => goose::read(root),
            Self::Request(_) => Entry::default(),
        }
    }
}

/// One record, as far as media are concerned.
#[derive(Debug, Default)]
pub(crate) struct Entry<'d, 'a> {
    /// The values below which media stand, in the order of the text.
    pub(crate) parts: Vec<(Value<'d, 'a>, Place)>,
    /// Where words go for a medium whose own place takes none.
    pub(crate) words: Option<Value<'d, 'a>>,
    /// The model that the agent talks to.
    pub(crate) model: Option<String>,
    /// What the agent sends of what stood before.
    pub(crate) history: History,
    /// How other records refer to this one.
    pub(crate) id: Option<String>,
    /// Whether it is a message of the conversation itself.
    pub(crate) is_main: bool,
}

/// What becomes of media below a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The agent sends them, again and again.
    Sent(Slot),
    /// Of a helper of the agent: sent only if the file is all of that helper.
    Aside(Slot),
    /// Kept for the screen; never sent.
    Copy,
}

impl Place {
    /// Among the words of the user.
    pub(crate) const USER: Self = Self::Sent(Slot::Message(Role::User));

    /// In the result of a tool. Whether it failed matters only where the agent sends it so.
    pub(crate) const fn result(error: bool) -> Self {
        Self::Sent(Slot::Result { error, screen: false })
    }
}

/// What an agent still sends of the records before one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum History {
    /// All of it.
    #[default]
    Goes,
    /// Nothing: it was compacted.
    Forgets,
    /// What stands from that record on.
    KeepsFrom(String),
    /// What stands before that record.
    RewindsTo(String),
}

/// What a file is.
pub fn detect(path: &Path) -> Result<Format, Error> {
    contained(path).map(|(format, _)| format)
}

/// What a file is, and what it is made of.
pub(crate) fn contained(path: &Path) -> Result<(Format, Container), Error> {
    let read = |error| Error::Read(path.to_owned(), error);
    let mut file = File::open(path).map_err(read)?;
    let mut magic = [0; 16];
    let length = file.read(&mut magic).map_err(read)?;
    if magic[..length].starts_with(b"SQLite format 3\0") {
        let (format, table) = table::detect(path)?;
        return Ok((format, Container::Table(table)));
    }
    let mut lines = Lines::open(path)?;
    let mut count = 0;
    let mut is_one = true;
    while let Some(line) = lines.next_line()? {
        is_one = count == 0;
        let doc = Doc::read(line);
        let Some(root) = doc.as_ref().and_then(Doc::root) else {
            // A document over several lines, perhaps.
            break;
        };
        if let Some(format) = of_line(root) {
            return Ok((format, Container::Lines));
        }
        count += 1;
        if count == MOST_LINES {
            break;
        }
    }
    if is_one || count == 0 {
        let bytes = std::fs::read(path).map_err(read)?;
        let doc = Doc::read(&bytes);
        let root = doc.as_ref().and_then(Doc::root);
        if root.is_some_and(gemini_cli::is_document) {
            return Ok((Format::GeminiCli, Container::Document));
        }
        if let Some(wire) = request::detect(&bytes) {
            return Ok((Format::Request(wire), Container::Document));
        }
    }
    Err(Error::UnknownFormat(path.to_owned()))
}

/// How many lines may say nothing about whose they are.
const MOST_LINES: usize = 50;

fn of_line(root: Value<'_, '_>) -> Option<Format> {
    type Recognizes = fn(Value<'_, '_>) -> bool;
    let formats: [(Format, Recognizes); 5] = [
        (Format::Codex, codex::recognizes),
        (Format::Pi, pi::recognizes),
        (Format::QwenCode, qwen_code::recognizes),
        (Format::ClaudeCode, claude_code::recognizes),
        (Format::GeminiCli, gemini_cli::recognizes),
    ];
    formats.iter().find(|(_, recognizes)| recognizes(root)).map(|(format, _)| *format)
}

/// Whether every name is there, and its value a string.
pub(super) fn has_strings(value: Value<'_, '_>, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(name).is_some_and(|text| text.kind() == Kind::String))
}

/// The string of that name.
pub(super) fn string(value: Value<'_, '_>, name: &str) -> Option<String> {
    Some(value.get(name)?.str()?.decode().into_owned())
}

/// Everything in an object but one member: copies of what is sent, if they hold media at all.
pub(super) fn all_but<'d, 'a>(
    root: Value<'d, 'a>,
    sent: &'static str,
) -> impl Iterator<Item = (Value<'d, 'a>, Place)> {
    root.entries()
        .filter(move |(key, value)| {
            !key.is(sent) && matches!(value.kind(), Kind::Object | Kind::Array)
        })
        .map(|(_, value)| (value, Place::Copy))
}
