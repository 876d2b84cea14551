//! Where what was learned is kept: one small JSON file, replaced as a whole or not at all.
//!
//! The file is the truth: whoever adds to it reads it first, under a lock, so that gateways can
//! share one and what a person made it forget stays forgotten. A file that cannot be read is set
//! aside, never overwritten.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use photic_store::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Entry, MAX_ENTRIES};
use crate::tenant::Identity;

/// A longer file is none of ours.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Since version 2 a lesson says who was taught it.
const VERSION: u32 = 2;

/// What a file held.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) entries: Vec<Entry>,
    /// Where it was moved, if it could not be read.
    pub(crate) set_aside: Option<PathBuf>,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    entries: &'a [Entry],
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    entries: Vec<Value>,
}

/// Reads a file, and sets it aside if it cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<Held> {
    if let Some(entries) = look(path)? {
        return Ok(Held { entries, set_aside: None });
    }
    let aside = aside(path);
    fs::rename(path, &aside)?;
    Ok(Held { set_aside: Some(aside), ..Held::default() })
}

/// What a file holds, nothing if it is not there; `None` if it cannot be read.
pub(crate) fn look(path: &Path) -> io::Result<Option<Vec<Entry>>> {
    let mut text = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
        Err(error) => return Err(error),
    };
    Ok(parse(&text))
}

/// What a text says; `None` if it cannot be read.
pub(crate) fn parse(text: &[u8]) -> Option<Vec<Entry>> {
    let read: Option<Read> = serde_json::from_slice(text).ok();
    let read = read.filter(|read| (1..=VERSION).contains(&read.version))?;
    // What another version knew and this one does not is left out.
    let entries = read.entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
    let entries =
        entries.filter_map(|entry| if read.version == 1 { first(entry) } else { Some(entry) });
    Some(entries.take(MAX_ENTRIES).collect())
}

/// An entry of version 1, which does not say who was taught it. What a probe proved was its
/// operator's. The rest may be anybody's, and any caller could have had it learned for all others:
/// it helps nobody, and whoever it is true for is told so once more.
fn first(entry: Entry) -> Option<Entry> {
    (entry.evidence.status == 0).then_some(Entry { teacher: Identity::Operator, ..entry })
}

/// The text that says these.
pub(crate) fn text(entries: &[Entry]) -> String {
    serde_json::to_string(&Written { version: VERSION, entries }).unwrap_or_default()
}

/// Changes a file: what it holds is read, handed over, and written back.
pub(crate) fn change<T>(path: &Path, change: impl FnOnce(&mut Vec<Entry>) -> T) -> io::Result<T> {
    if let Some(folder) = path.parent() {
        private::make_directory(folder)?;
    }
    // Held until the end; a crash gives it up, too.
    let lock = private::create_file(&path.with_extension("lock"))?;
    lock.lock()?;
    let mut entries = read(path)?.entries;
    let done = change(&mut entries);
    write(path, &entries)?;
    Ok(done)
}

/// Whether a file could be written there.
pub(crate) fn is_writable(path: &Path) -> bool {
    let folder = path.parent().is_none_or(|folder| private::make_directory(folder).is_ok());
    // What earlier versions wrote may be open to others.
    let _ = private::tighten_file(path);
    folder && private::create_file(&path.with_extension("lock")).is_ok()
}

/// Written beside it, made to stay, and put in its place: whoever reads sees the old or the new.
fn write(path: &Path, entries: &[Entry]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = private::replace_file(&beside)?;
    serde_json::to_writer_pretty(&mut file, &Written { version: VERSION, entries })?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is kept by the folder; not every system lets one ask for that.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A name that is free, for a file that cannot be read.
fn aside(path: &Path) -> PathBuf {
    let names = (1..100).map(|number| path.with_extension(format!("unreadable-{number}")));
    let free = names.into_iter().find(|name| !name.exists());
    free.unwrap_or_else(|| path.with_extension("unreadable"))
}
