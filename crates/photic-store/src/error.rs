//! What can go wrong, a variant where a caller can do something about it.
//!
//! No error holds bytes of media or words of a conversation.

use std::error::Error as StdError;
use std::io;

use crate::blobs::BlobId;
use crate::record::SessionId;

/// What went wrong with a blob.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is none of that name.
    #[error("blob {0} is not in the store")]
    Absent(BlobId),
    /// What is stored under the name is something else: torn, or changed. It is never returned.
    #[error("blob {0} is damaged: its bytes are not those it is named after")]
    Damaged(BlobId),
    /// There is no room.
    #[error("no room left to store a blob")]
    Full(#[source] io::Error),
    /// The disk, or whatever stands for it.
    #[error("blobs cannot be reached")]
    Io(#[source] io::Error),
    /// The server that keeps them cannot be reached, or is not itself. It may be later.
    #[error("the server of blobs cannot be reached")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(error),
            _ => Self::Io(error),
        }
    }
}

/// What went wrong with the record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A blob.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// There is no room.
    #[error("no room left to write the record")]
    Full(#[source] rusqlite::Error),
    /// It was written by a newer photic.
    #[error("the record has format {found}; this photic knows formats up to {known}")]
    TooNew {
        /// The format it has.
        found: u32,
        /// The newest one known.
        known: u32,
    },
    /// What is in it cannot be: it was changed by something else.
    #[error("the record is damaged: {0}")]
    Damaged(&'static str),
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// There is no such turn.
    #[error("session `{session}` has no turn {number}")]
    NoTurn {
        /// The session.
        session: SessionId,
        /// The turn.
        number: u64,
    },
    /// What a turn showed cannot be made again, byte for byte: another version of photic plans or
    /// writes it in another way. What came from the client is not affected.
    #[error("what turn {0} showed cannot be reproduced by this version")]
    NotReproduced(u64),
    /// There is a job of that name, and it is about something else.
    #[error("the job `{0}` is of another list, question or model")]
    OtherJob(String),
    /// The database.
    #[error("the record cannot be read or written")]
    Record(#[source] rusqlite::Error),
    /// No randomness for names and secrets.
    #[error("the system gives no random numbers")]
    Random,
    /// The directory cannot be made.
    #[error("the store's directory cannot be made")]
    Directory(#[source] io::Error),
    /// The server that keeps the record cannot be reached, or is not itself. It may be later.
    #[error("the server of the record cannot be reached")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// The server that keeps the record refuses what it is told.
    #[error("the server of the record refuses")]
    Refused(#[source] Box<dyn StdError + Send + Sync>),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full(error),
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged("it is no readable database")
            }
            _ => Self::Record(error),
        }
    }
}
