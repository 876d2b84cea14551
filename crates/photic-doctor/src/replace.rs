//! A repaired session in the place of the original, which is kept.
//!
//! Owns the order in which files change their names: at no moment is the original gone, and no
//! database ever finds the log of another.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// Where a database keeps what was not yet written into its file.
const LOG: &str = "-wal";
/// What those who have a database open share; it is made anew.
const SHARED: &str = "-shm";

/// Puts what was written where the original is; tells where the original is kept.
pub fn replace(original: &Path, written: &Path) -> Result<PathBuf, Error> {
    let backup = free(original);
    keep(original, &backup)?;
    let log = suffixed(original, LOG);
    if log_of(original).is_some() {
        keep(&log, &suffixed(&backup, LOG))?;
    }
    for gone in [log, suffixed(original, SHARED)] {
        if gone.exists() {
            std::fs::remove_file(&gone).map_err(|error| Error::Write(gone, error))?;
        }
    }
    std::fs::rename(written, original)
        .map_err(|error| Error::Write(original.to_owned(), error))
        .map(|()| backup)
}

/// The log of a database, if there is anything in it.
pub(crate) fn log_of(path: &Path) -> Option<std::fs::Metadata> {
    std::fs::metadata(suffixed(path, LOG)).ok().filter(|data| data.len() > 0)
}

/// The path with something behind its name.
pub(crate) fn suffixed(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A name for the original that nothing goes by.
fn free(original: &Path) -> PathBuf {
    let mut backup = suffixed(original, ".backup");
    let mut number = 1;
    while backup.exists() || suffixed(&backup, LOG).exists() {
        number += 1;
        backup = suffixed(original, &format!(".backup{number}"));
    }
    backup
}

/// A second name, so that a file is never absent; a copy where names cannot be shared.
fn keep(file: &Path, backup: &Path) -> Result<(), Error> {
    if std::fs::hard_link(file, backup).is_err() {
        std::fs::copy(file, backup).map_err(|error| Error::Write(backup.to_owned(), error))?;
    }
    Ok(())
}
