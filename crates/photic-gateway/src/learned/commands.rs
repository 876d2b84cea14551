//! Operations on the file of lessons, for the command line.

use std::io;
use std::path::{Path, PathBuf};

use super::entry::{Entry, MAX_NAME_LENGTH, add, bound};
use super::file;
use crate::tenant::Identity;

/// Returns the file in which the `photic` command keeps lessons, if there is a state directory.
pub fn usual_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("photic/learned.json"))
}

/// Reads the lessons in a file. A missing file has none.
///
/// # Errors
///
/// Fails if the file cannot be read or parsed.
pub fn read(path: &Path) -> io::Result<Vec<Entry>> {
    file::look(path)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Removes the lessons about a host, or about one model of it. Returns their number.
///
/// # Errors
///
/// Fails if the file cannot be read or written.
pub fn forget(path: &Path, host: &str, model: Option<&str>) -> io::Result<usize> {
    if !path.exists() {
        return Ok(0);
    }
    file::change(path, |entries| {
        let before = entries.len();
        let is_meant =
            |entry: &Entry| entry.host == host && model.is_none_or(|model| entry.model == model);
        entries.retain(|entry| !is_meant(entry));
        before - entries.len()
    })
}

/// Adds lessons to a file, for gateways that are started later. The operator is their teacher, so
/// they apply to all callers.
///
/// # Errors
///
/// Fails if the file cannot be read or written.
pub fn teach(path: &Path, lessons: &[Entry]) -> io::Result<()> {
    file::change(path, |entries| {
        for lesson in lessons.iter().filter(|entry| entry.model.len() <= MAX_NAME_LENGTH) {
            add(entries, Entry { teacher: Identity::Operator, ..lesson.clone() });
        }
        bound(entries);
    })
}
