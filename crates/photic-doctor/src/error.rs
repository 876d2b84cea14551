//! The errors of this crate: one variant for each case that a caller can handle.

use std::error::Error as StdError;
use std::path::PathBuf;

use crate::format::kind::SessionFormat;

/// The reason why a session was not diagnosed or repaired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read `{}`", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// The output file could not be written.
    #[error("cannot write `{}`", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
    /// The file is neither a session of a known agent nor a request.
    #[error("`{}` is not a session that photic knows; supported are {}", .0.display(), SessionFormat::supported())]
    UnknownFormat(PathBuf),
    /// The file changed while it was read.
    #[error("`{}` changed while it was read; close the agent that writes to it", .0.display())]
    Changed(PathBuf),
    /// The database is in use, or broken.
    #[error("cannot use the database `{}`", .0.display())]
    Database(PathBuf, #[source] Box<dyn StdError + Send + Sync>),
    /// Media can be moved only out of text files.
    #[error("`{}` is a database; media can be moved only out of text files", .0.display())]
    NoLines(PathBuf),
    /// A blob is missing or broken, or could not be stored.
    #[error("cannot use the blob store")]
    Blobs(#[source] photic_store::BlobError),
    /// A reference to media is broken.
    #[error("`{}` refers to media that are not in the blob store: {}", .0.display(), .1)]
    NotABlob(PathBuf, String),
}
