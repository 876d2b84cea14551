//! Pages of sessions and turns, for programs that show them.

use std::fmt;
use std::str::FromStr;

use photic::{Choice, Digest, Wire};

use super::{Chain, Fates, RequestOutcome, Session, TurnCost};
use crate::blobs::BlobId;
use crate::error::Error;

/// A question for sessions, latest first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers create it")]
pub struct SessionQuery {
    /// The end of the page before; `None` for the first one.
    pub before: Option<SessionCursor>,
    /// Maximum number of sessions.
    pub limit: usize,
    /// Words that the title contains, in either case, or the beginning of an identifier. Everything matches if it is empty.
    pub search: String,
}

/// The last session of a page. The text of it is opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCursor {
    /// Time of the last turn of the session.
    pub(crate) last: i64,
    /// Row number of the backend.
    pub(crate) row: i64,
}

/// A page of sessions.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions, latest first.
    pub sessions: Vec<SessionRow>,
    /// The cursor of the next page, if there may be one.
    pub next: Option<SessionCursor>,
}

/// A session and the sums over its turns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionRow {
    /// The session.
    pub session: Session,
    /// Sums over its turns.
    pub sums: SessionSums,
}

/// Sums over the turns of a session. What is reported is summed apart from what is expected.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionSums {
    /// The model of the last turn with an outcome.
    pub model: Option<String>,
    /// The wires of its turns, in the order of [`Wire::ALL`].
    pub wires: Vec<Wire>,
    /// Expected input tokens of all turns.
    pub expected_tokens: u64,
    /// The input of all turns in US dollars: the provider's charge where it is known, else what was
    /// expected. `None` if no turn has either.
    pub usd: Option<f64>,
    /// Number of turns that `usd` leaves out.
    pub unpriced: u64,
    /// Number of requests whose usage was reported.
    pub reported: u64,
    /// Sum of their input tokens. This and the next sums are 0 if there are none.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
    /// The output in US dollars, of the turns where it is known.
    pub output_usd: Option<f64>,
    /// Number of requests of the session that failed for good.
    pub failed: u64,
}

/// A turn in a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnRow {
    /// Its number, from 1.
    pub number: u64,
    /// Wire of the client's body.
    pub wire: Wire,
    /// Time in milliseconds since 1970.
    pub time: i64,
    /// Images, expected tokens, and the input in US dollars: the provider's charge once it is known.
    pub cost: TurnCost,
    /// Length of the body that was sent.
    pub length: u64,
    /// BLAKE3 digest of the body that was sent.
    pub digest: Digest,
    /// The new words and tool results. `None` for turns of older versions.
    pub arrived: Option<ArrivedMessages>,
    /// The fate of each medium. `None` for turns of older versions.
    pub fates: Option<Fates>,
    /// The number of the session's picture of each medium, as runs of consecutive numbers.
    pub pictures: Vec<PictureRun>,
    /// The comparison with the turn before, as sent. `None` for the first turn and for turns of older
    /// versions.
    pub change: Option<SentChange>,
    /// Its outcome. `None` while the reply is being sent, and for turns of older versions.
    pub outcome: Option<RequestOutcome>,
}

/// The new messages of a turn, in short: those after the last message of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ArrivedMessages {
    /// The first words of the user, one line of at most 60 characters. Empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The names of the tools whose results came, each once, at most eight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// Media of a turn that are pictures of the session with consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PictureRun {
    /// The number of the first one, from 1. It is 0 for media without bytes in the record, such as
    /// addresses.
    pub first: u32,
    /// The number of media.
    pub count: u32,
}

/// The beginning that two bodies have in common as they were sent, without cache marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentChange {
    /// Number of messages at the beginning that are the same. A message that photic inserted counts
    /// as part of the one before it.
    pub same: u64,
    /// Number of messages of the later body.
    pub messages: u64,
    /// Set if the rest of the body differs: tools, settings, a system prompt beside the messages.
    pub is_frame_changed: bool,
}

/// A picture, document or sound of a session. It has one number in the whole session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionPicture {
    /// Its number, from 1, by its first appearance.
    pub number: u32,
    /// Its digest.
    pub digest: Digest,
    /// Its handle.
    pub handle: crate::handle::Handle,
    /// Type and size. Unknown for bytes that were not sent as a medium of their own.
    pub facts: crate::handle::Facts,
    /// The first turn that has it.
    pub first_turn: u64,
    /// The choice of the user that is in force.
    pub choice: Option<Choice>,
}

/// A page of pictures.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PicturePage {
    /// The pictures, by their numbers.
    pub pictures: Vec<SessionPicture>,
    /// Number of pictures of the session.
    pub total: u32,
}

/// A choice of the user, and when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastChoice {
    /// The picture.
    pub picture: Digest,
    /// The choice; `None` if an earlier one was taken back.
    pub choice: Option<Choice>,
    /// Time in milliseconds since 1970.
    pub time: i64,
    /// Number of turns that the session had then. The choice is in force from the next one on.
    pub after_turn: u64,
}

impl PastChoice {
    /// Creates an entry of the history.
    pub const fn new(picture: Digest, choice: Option<Choice>, time: i64, after_turn: u64) -> Self {
        Self { picture, choice, time, after_turn }
    }
}

/// A message of a session as a node of its tree, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "backends create it")]
pub struct MessageNode {
    /// Row number of the backend. Later messages have greater ones.
    pub row: i64,
    /// Row of the message before it.
    pub parent: Option<i64>,
    /// The numbers in the transcript and blobs of its media, in order.
    pub media: Vec<(u32, BlobId)>,
}

/// A turn in a list, as a backend reads it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "backends create it")]
pub struct ListedTurn {
    /// Its number, from 1.
    pub number: u64,
    /// Wire of the client's body.
    pub wire: Wire,
    /// Time in milliseconds since 1970.
    pub time: i64,
    /// Cost of the turn.
    pub cost: TurnCost,
    /// Length of the body that was sent.
    pub length: u64,
    /// Digest of the body that was sent.
    pub digest: Digest,
    /// Row of its last message.
    pub tip: Option<i64>,
    /// Media beside the messages, with their numbers in the transcript.
    pub beside: Vec<(u32, BlobId)>,
    /// The new messages in short, as JSON.
    pub arrived: Option<String>,
    /// The fates, as [`Fates::to_bytes`] writes them.
    pub fates: Option<Vec<u8>>,
}

/// The messages of a turn as they were sent, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentMessages {
    /// Hash of the body without its messages and cache marks.
    pub frame: Chain,
    /// Hash of each message without cache marks.
    pub messages: Vec<Chain>,
}

/// Error of a text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is the `next` of an earlier page")]
pub struct NotACursor;

impl Default for SessionQuery {
    fn default() -> Self {
        Self { before: None, limit: 100, search: String::new() }
    }
}

impl SessionCursor {
    /// Creates the cursor of a session, from the time of its last turn and the backend's row number.
    pub const fn new(last: i64, row: i64) -> Self {
        Self { last, row }
    }

    /// Returns the time of the last turn and the row number.
    pub const fn place(self) -> (i64, i64) {
        (self.last, self.row)
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.last, self.row)
    }
}

impl FromStr for SessionCursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let (last, row) = text.split_once('.').ok_or(NotACursor)?;
        let number = |text: &str| text.parse().map_err(|_| NotACursor);
        Ok(Self { last: number(last)?, row: number(row)? })
    }
}

impl SessionPage {
    /// Creates a page.
    pub const fn new(sessions: Vec<SessionRow>, next: Option<SessionCursor>) -> Self {
        Self { sessions, next }
    }
}

impl SessionRow {
    /// Creates a row.
    pub const fn new(session: Session, sums: SessionSums) -> Self {
        Self { session, sums }
    }
}

impl ArrivedMessages {
    /// Parses the JSON of a stored turn.
    pub fn read(json: &str) -> Result<Self, Error> {
        serde_json::from_str(json).map_err(|_| Error::Damaged("the new messages of a turn"))
    }
}
