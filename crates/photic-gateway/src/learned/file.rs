//! The JSON file that lessons are kept in. It is replaced atomically.
//!
//! The file is the source of truth: a gateway that adds to it reads it first, under a lock. So
//! gateways can share a file, and lessons that the operator removed stay removed. A file that cannot
//! be read is renamed, never overwritten.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use photic_store::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Entry, MAX_ENTRIES};
use crate::tenant::Identity;

/// Maximum size of the file. A larger one was not written by a gateway.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Version of the format. Since version 2 a lesson names its teacher.
const VERSION: u32 = 2;

/// The lessons that were loaded from a file.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) entries: Vec<Entry>,
    /// The new name of the file, if it could not be read.
    pub(crate) set_aside: Option<PathBuf>,
}

/// The file, for writing.
#[derive(Serialize)]
struct FileRef<'a> {
    version: u32,
    entries: &'a [Entry],
}

/// The file, for reading. Entries are parsed one by one, because some may be of another version.
#[derive(Deserialize)]
struct RawFile {
    version: u32,
    entries: Vec<Value>,
}

/// Reads a file, and renames it if it cannot be parsed.
pub(crate) fn read(path: &Path) -> io::Result<Loaded> {
    if let Some(entries) = look(path)? {
        return Ok(Loaded { entries, set_aside: None });
    }
    let aside = aside(path);
    fs::rename(path, &aside)?;
    Ok(Loaded { set_aside: Some(aside), ..Loaded::default() })
}

/// Reads the lessons in a file. A missing file has none. Returns `None` if it cannot be parsed.
pub(crate) fn look(path: &Path) -> io::Result<Option<Vec<Entry>>> {
    let mut text = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
        Err(error) => return Err(error),
    };
    Ok(parse(&text))
}

/// Parses the text of a file. Returns `None` if it is malformed or of a newer version.
pub(crate) fn parse(text: &[u8]) -> Option<Vec<Entry>> {
    let file: Option<RawFile> = serde_json::from_slice(text).ok();
    let file = file.filter(|file| (1..=VERSION).contains(&file.version))?;
    // Lessons that only another version knows are left out.
    let entries = file.entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
    let entries = entries
        .filter_map(|entry| if file.version == 1 { from_version_1(entry) } else { Some(entry) });
    Some(entries.take(MAX_ENTRIES).collect())
}

/// Converts an entry of version 1, which names no teacher.
///
/// Lessons of a probe are the operator's. All others are dropped: any caller could have caused them
/// for all others, and a caller that they are true for will be taught again.
fn from_version_1(entry: Entry) -> Option<Entry> {
    (entry.evidence.status == 0).then_some(Entry { teacher: Identity::Operator, ..entry })
}

/// Returns the text of a file with these lessons.
pub(crate) fn text(entries: &[Entry]) -> String {
    serde_json::to_string(&FileRef { version: VERSION, entries }).unwrap_or_default()
}

/// Reads a file, changes its lessons, and writes it back, under a lock.
pub(crate) fn change<T>(path: &Path, change: impl FnOnce(&mut Vec<Entry>) -> T) -> io::Result<T> {
    if let Some(folder) = path.parent() {
        private::make_directory(folder)?;
    }
    // Held until the end of the function. The system releases it after a crash.
    let lock = private::create_file(&path.with_extension("lock"))?;
    lock.lock()?;
    let mut entries = read(path)?.entries;
    let done = change(&mut entries);
    write(path, &entries)?;
    Ok(done)
}

/// Returns `true` if the file can be written.
pub(crate) fn is_writable(path: &Path) -> bool {
    let folder = path.parent().is_none_or(|folder| private::make_directory(folder).is_ok());
    // Earlier versions wrote files that other users could read.
    let _ = private::tighten_file(path);
    folder && private::create_file(&path.with_extension("lock")).is_ok()
}

/// Writes a new file beside the old one, syncs it, and renames it. Readers see the old or the new
/// one.
fn write(path: &Path, entries: &[Entry]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = private::replace_file(&beside)?;
    serde_json::to_writer_pretty(&mut file, &FileRef { version: VERSION, entries })?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The directory holds the new name. Not every system can sync a directory.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Returns a free name for a file that cannot be read.
fn aside(path: &Path) -> PathBuf {
    let names = (1..100).map(|number| path.with_extension(format!("unreadable-{number}")));
    let free = names.into_iter().find(|name| !name.exists());
    free.unwrap_or_else(|| path.with_extension("unreadable"))
}
