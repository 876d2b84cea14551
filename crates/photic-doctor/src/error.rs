//! What can go wrong with a session file; one variant for each thing a caller can act on.

use std::path::PathBuf;

use crate::format::Format;

/// Why a session was not diagnosed or repaired.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read `{}`", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// The other file could not be written.
    #[error("cannot write `{}`", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
    /// It is no session of an agent, and no request.
    #[error("`{}` is no session that photic knows; looked for {}", .0.display(), Format::looked_for())]
    UnknownFormat(PathBuf),
    /// It is another one than a moment ago: somebody is writing to it.
    #[error("`{}` changed while it was read; close the agent that writes to it", .0.display())]
    Changed(PathBuf),
    /// The database is in use, or broken.
    #[error("cannot use the database `{}`", .0.display())]
    Database(PathBuf, #[source] rusqlite::Error),
    /// Media are moved out of lines only.
    #[error("`{}` is a database; media can be moved out of files only", .0.display())]
    NoLines(PathBuf),
    /// A blob is missing or broken, or could not be stored.
    #[error("cannot use the blob store")]
    Blobs(#[source] photic_store::BlobError),
    /// There is nothing to put back, or it is not what it was.
    #[error("`{}` refers to media that are no blob here: {}", .0.display(), .1)]
    NotABlob(PathBuf, String),
}
