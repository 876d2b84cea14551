//! The result of a diagnosis: the media of a session, their problems and the remedies.

use std::collections::BTreeMap;
use std::fmt;

use photic::{Code, Profile, Recipe};
use serde::Serialize;

use super::cut::CutLine;
use crate::format::SessionName;
use crate::format::kind::SessionFormat;

/// The result of a diagnosis.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The format of the session.
    #[serde(serialize_with = "by_name")]
    pub format: SessionFormat,
    /// The name of the profile that was used; the last one if conversations have different ones.
    pub profile: String,
    /// The size of the file, including the log of a database.
    pub bytes: u64,
    /// The number of records: lines or rows.
    pub records: usize,
    /// The number of conversations.
    pub conversations: usize,
    /// All media, in order.
    pub media: Vec<Medium>,
    /// Other problems, if the file is a request.
    pub findings: Vec<photic::Finding>,
    /// The last line, if it was cut off while it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_line: Option<CutLine>,
    /// Numbers of other lines that are not JSON; a repair leaves them as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable_lines: Vec<usize>,
    /// The name by which the agent resumes the session: in a database, that of the first session
    /// with a problem, or of the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// The profile of each conversation.
    #[serde(skip)]
    pub(crate) profiles: BTreeMap<Option<String>, Profile>,
}

/// An image, document or sound in a session.
#[derive(Clone, Debug, Serialize)]
pub struct Medium {
    /// Its position.
    #[serde(serialize_with = "in_words")]
    pub at: MediaPosition,
    /// Its media type, detected from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<&'static str>,
    /// Its width and height.
    #[serde(rename = "source_size", skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// The number of bytes that it takes in the file.
    pub bytes: u64,
    /// `true` if the agent sends it; otherwise it is a copy, or was compacted.
    pub is_sent: bool,
    /// `true` if the same bytes occur earlier in the file.
    pub is_repeated: bool,
    /// `true` if its bytes were moved to a blob store, and its place holds their name.
    pub is_moved: bool,
    /// The price in tokens each time it is sent.
    pub tokens: u64,
    /// The reason why the endpoint rejects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ailment: Option<Problem>,
}

/// A position in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaPosition {
    /// Line or row, from 1; 0 if the file is one request.
    pub record: usize,
    /// The conversation, if a file holds several.
    pub conversation: Option<String>,
    /// A JSON pointer into the record.
    pub pointer: String,
}

/// The reason why an endpoint rejects a medium, and the remedy.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// The kind of problem.
    pub code: Code,
    /// A sentence with the numbers.
    pub why: String,
    /// The repair.
    pub remedy: Remedy,
}

/// The repair of a medium.
#[derive(Clone, Debug)]
pub enum Remedy {
    /// Corrects its media type. If the line must not grow, this notice replaces it.
    Relabel(String),
    /// Writes the same bytes in the form that the endpoint expects.
    Respell,
    /// Converts it to a picture that is smaller or of another type. If that fails, this notice
    /// replaces it.
    Remake(Recipe, String),
    /// Replaces it by this notice.
    Notice(String),
}

impl Remedy {
    /// The name of the remedy.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Relabel(_) => "relabel",
            Self::Respell => "respell",
            Self::Remake(..) => "remake",
            Self::Notice(_) => "notice",
        }
    }
}

impl Serialize for Remedy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Diagnosis {
    /// The media that the endpoint would reject.
    pub fn broken(&self) -> impl Iterator<Item = &Medium> {
        self.media.iter().filter(|medium| medium.ailment.is_some())
    }

    /// Returns `true` if the endpoint would reject the session.
    pub fn is_broken(&self) -> bool {
        self.broken().next().is_some() || !self.findings.is_empty() || self.cut_line.is_some()
    }

    /// The number of media that were moved to a blob store. No agent can continue the session before
    /// they are put back.
    pub fn moved(&self) -> usize {
        self.media.iter().filter(|medium| medium.is_moved).count()
    }

    /// The number of bytes of media in the file.
    pub fn media_bytes(&self) -> u64 {
        self.media.iter().map(|medium| medium.bytes).sum()
    }

    /// The number of bytes of repeated media in the file.
    pub fn repeated_bytes(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_repeated).map(|medium| medium.bytes).sum()
    }

    /// The price of the media in tokens each time the session is sent.
    pub fn tokens(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_sent).map(|medium| medium.tokens).sum()
    }
}

impl fmt::Display for MediaPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.conversation, self.record) {
            (Some(name), row) => write!(f, "session {name} row {row} ")?,
            (None, 0) => {}
            (None, line) => write!(f, "line {line} ")?,
        }
        // A medium may be its whole record.
        f.write_str(if self.pointer.is_empty() { "/" } else { &self.pointer })
    }
}

/// Serializes a format as its name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn by_name<S: serde::Serializer>(format: &SessionFormat, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

/// Serializes a position as text.
fn in_words<S: serde::Serializer>(at: &MediaPosition, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}
