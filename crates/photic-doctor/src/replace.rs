//! Replaces the original by a repaired session, and keeps a backup.
//!
//! Files are renamed in an order in which the original always exists, and no database finds the log
//! of another.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// Suffix of a database's write-ahead log.
const LOG_SUFFIX: &str = "-wal";
/// Suffix of a database's shared memory, which is created again.
const SHARED_SUFFIX: &str = "-shm";

/// Replaces the original by a written file. Returns the path of the backup.
pub fn replace(original: &Path, written: &Path) -> Result<PathBuf, Error> {
    let backup = free(original);
    keep(original, &backup)?;
    let log = suffixed(original, LOG_SUFFIX);
    if log_of(original).is_some() {
        keep(&log, &suffixed(&backup, LOG_SUFFIX))?;
    }
    for gone in [log, suffixed(original, SHARED_SUFFIX)] {
        if gone.exists() {
            std::fs::remove_file(&gone).map_err(|error| Error::Write(gone, error))?;
        }
    }
    std::fs::rename(written, original)
        .map_err(|error| Error::Write(original.to_owned(), error))
        .map(|()| backup)
}

/// The log of a database, if it is not empty.
pub(crate) fn log_of(path: &Path) -> Option<std::fs::Metadata> {
    std::fs::metadata(suffixed(path, LOG_SUFFIX)).ok().filter(|data| data.len() > 0)
}

/// A path with a suffix.
pub(crate) fn suffixed(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A free name for the backup.
fn free(original: &Path) -> PathBuf {
    let mut backup = suffixed(original, ".backup");
    let mut number = 1;
    while backup.exists() || suffixed(&backup, LOG_SUFFIX).exists() {
        number += 1;
        backup = suffixed(original, &format!(".backup{number}"));
    }
    backup
}

/// Keeps a second link to a file, or a copy if links are not supported.
fn keep(file: &Path, backup: &Path) -> Result<(), Error> {
    if std::fs::hard_link(file, backup).is_err() {
        std::fs::copy(file, backup).map_err(|error| Error::Write(backup.to_owned(), error))?;
    }
    Ok(())
}
