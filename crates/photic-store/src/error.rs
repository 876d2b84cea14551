//! Errors of the store: one variant for each thing a caller can act on.
//!
//! No error contains bytes of media or words of a conversation.

use std::error::Error as StdError;
use std::io;

use crate::blobs::BlobId;
use crate::random::NoRandomNumbers;
use crate::session_id::SessionId;

/// Error of the blob storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// The blob does not exist.
    #[error("blob `{0}` is not in the store")]
    Absent(BlobId),
    /// The stored bytes do not match the identifier: the file was truncated or changed. They are
    /// never returned.
    #[error("blob `{0}` is damaged: its bytes do not match its name")]
    Damaged(BlobId),
    /// The disk is full.
    #[error("cannot store a blob: the disk is full")]
    Full(#[source] io::Error),
    /// The disk failed.
    #[error("cannot access the blobs")]
    Io(#[source] io::Error),
    /// The server of the blobs is unavailable. A retry may succeed.
    #[error("the blob storage is unavailable")]
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

/// Error of the record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The blob storage failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The disk is full.
    #[error("cannot write the record: the disk is full")]
    Full(#[source] Box<dyn StdError + Send + Sync>),
    /// The record was written by a newer version of photic.
    #[error(
        "the record has format {found}, but this version of photic supports up to {known}; update photic"
    )]
    TooNew {
        /// Format of the record.
        found: u32,
        /// Newest supported format.
        known: u32,
    },
    /// The record contains impossible data: another program changed it.
    #[error("the record is damaged: {0}")]
    Damaged(&'static str),
    /// The session does not exist.
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    /// The session does not have the messages that were left out of a turn. The turn can be stored
    /// whole.
    #[error("session `{0}` does not have the messages that were left out; store the whole turn")]
    NotContinued(SessionId),
    /// The turn does not exist.
    #[error("session `{session}` has no turn {number}")]
    NoTurn {
        /// The session.
        session: SessionId,
        /// The number of the turn.
        number: u64,
    },
    /// The lowered body of a turn cannot be reproduced byte for byte, because another version of
    /// photic plans or writes it differently. The body of the client is not affected.
    #[error("turn {0} cannot be reproduced by this version of photic")]
    NotReproduced(u64),
    /// A job with this name exists and has another list.
    #[error("the job `{0}` is of another list, question or model")]
    OtherJob(String),
    /// The database failed.
    #[error("cannot read or write the record")]
    Record(#[source] Box<dyn StdError + Send + Sync>),
    /// The system has no random numbers for identifiers and secrets.
    #[error("the system has no random numbers")]
    Random,
    /// The directory cannot be created.
    #[error("cannot create the directory of the store")]
    Directory(#[source] io::Error),
    /// The server of the record is unavailable. A retry may succeed.
    #[error("the record storage is unavailable")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// The server of the record rejected a statement.
    #[error("the record storage rejected a statement")]
    Refused(#[source] Box<dyn StdError + Send + Sync>),
}

impl From<NoRandomNumbers> for Error {
    fn from(_: NoRandomNumbers) -> Self {
        Self::Random
    }
}
