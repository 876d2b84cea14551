//! The formats of sessions: detects them, and finds the media in a record.
//!
//! Each format has a file that describes its records and what the agent sends of them.

mod claude_code;
mod codex;
mod gemini_cli;
mod goose;
pub(crate) mod kind;
mod name;
mod opencode;
mod pi;
mod qwen_code;
pub(crate) mod record;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use photic::json::{Doc, Value};

pub use kind::SessionFormat;
pub use name::SessionName;
use record::RecordMedia;

use crate::error::Error;
use crate::lines::Lines;
use crate::{request, sqlite};

/// The structure of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One record per line.
    Lines,
    /// One record.
    Document,
    /// One record per row.
    SessionTable(sqlite::SessionTable),
}

impl SessionFormat {
    /// Reads a record.
    pub(crate) fn read<'d, 'a>(self, root: Value<'d, 'a>) -> RecordMedia<'d, 'a> {
        match self {
            Self::ClaudeCode => claude_code::read(root),
            Self::Codex => codex::read(root),
            Self::Pi => pi::read(root),
            Self::GeminiCli => gemini_cli::read(root),
            Self::QwenCode => qwen_code::read(root),
            Self::OpenCode => opencode::read(root),
            Self::Goose => goose::read(root),
            Self::Request(_) => RecordMedia::default(),
        }
    }
}

/// Detects the format of a file.
///
/// # Errors
///
/// Fails if the file cannot be read or has an unknown format.
pub fn detect(path: &Path) -> Result<SessionFormat, Error> {
    contained(path).map(|(format, _)| format)
}

/// Detects the format and structure of a file.
pub(crate) fn contained(path: &Path) -> Result<(SessionFormat, Container), Error> {
    let read = |error| Error::Read(path.to_owned(), error);
    let mut file = File::open(path).map_err(read)?;
    let mut magic = [0; 16];
    let length = file.read(&mut magic).map_err(read)?;
    if magic[..length].starts_with(b"SQLite format 3\0") {
        let (format, table) = sqlite::detect(path)?;
        return Ok((format, Container::SessionTable(table)));
    }
    let mut lines = Lines::open(path)?;
    let mut count = 0;
    let mut is_one = true;
    while let Some(line) = lines.next_line()? {
        is_one = count == 0;
        let doc = Doc::read(line);
        let Some(root) = doc.as_ref().and_then(Doc::root) else {
            // It may be a document over several lines.
            break;
        };
        if let Some(format) = of_line(root) {
            return Ok((format, Container::Lines));
        }
        count += 1;
        if count == MAX_DETECTION_LINES {
            break;
        }
    }
    if is_one || count == 0 {
        let bytes = std::fs::read(path).map_err(read)?;
        let doc = Doc::read(&bytes);
        let root = doc.as_ref().and_then(Doc::root);
        if root.is_some_and(gemini_cli::is_document) {
            return Ok((SessionFormat::GeminiCli, Container::Document));
        }
        if let Some(wire) = request::detect(&bytes) {
            return Ok((SessionFormat::Request(wire), Container::Document));
        }
    }
    Err(Error::UnknownFormat(path.to_owned()))
}

/// Number of lines that are examined to detect the format.
const MAX_DETECTION_LINES: usize = 50;

/// The format of a line.
fn of_line(root: Value<'_, '_>) -> Option<SessionFormat> {
    type Recognizes = fn(Value<'_, '_>) -> bool;
    let formats: [(SessionFormat, Recognizes); 5] = [
        (SessionFormat::Codex, codex::recognizes),
        (SessionFormat::Pi, pi::recognizes),
        (SessionFormat::QwenCode, qwen_code::recognizes),
        (SessionFormat::ClaudeCode, claude_code::recognizes),
        (SessionFormat::GeminiCli, gemini_cli::recognizes),
    ];
    formats.iter().find(|(_, recognizes)| recognizes(root)).map(|(format, _)| *format)
}
