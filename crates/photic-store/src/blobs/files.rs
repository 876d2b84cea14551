//! Blobs as files below a directory: `ab/cd/<the whole name>`.
//!
//! A blob appears whole or not at all: it is written beside its place, synced, and renamed. Many
//! processes may do so at once; they write the same bytes to the same place. Nothing is locked.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::{BlobId, Blobs, Listed};
use crate::error::BlobError;
use crate::private;

/// Blobs as files below a directory.
#[derive(Debug)]
pub struct FileBlobs {
    root: PathBuf,
    /// What makes the names of unfinished files of one process differ.
    count: AtomicU64,
}

/// Where unfinished files are, which a killed process leaves behind.
const UNFINISHED: &str = "unfinished";
/// Where files are while it is decided whether they go.
const LEAVING: &str = "leaving";
/// Longer than it takes to sync a directory.
const FRESH: Duration = Duration::from_mins(1);
/// How often a blob that is in no place is looked for again, and how long it is waited in between.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);
/// About how many are listed at a time.
const PAGE: usize = 1000;

impl FileBlobs {
    /// Opens a directory, and makes it if it is not there.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let root = root.into();
        for directory in [root.clone(), root.join(UNFINISHED), root.join(LEAVING)] {
            // A full disk must not keep anybody from reading what is there.
            if directory.is_dir() {
                private::tighten_directory(&directory)?;
                continue;
            }
            match private::make_directory(&directory).map_err(BlobError::from) {
                Ok(()) => sync_directory(directory.parent())?,
                Err(BlobError::Full(_)) if root.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { root, count: AtomicU64::new(0) })
    }

    /// Stores bytes; see [`Blobs::put`].
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.put_while(bytes, || ())
    }

    /// Stores bytes while something else happens at the worst moment.
    fn put_while(&self, bytes: &[u8], meanwhile: impl FnOnce()) -> Result<BlobId, BlobError> {
        let id = BlobId::of(bytes);
        let place = self.place(&id);
        if renew(&place, Some(bytes.len() as u64), meanwhile)? {
            return Ok(id);
        }
        let unfinished = self.root.join(UNFINISHED).join(self.unique());
        let written = write(&unfinished, bytes).and_then(|()| self.settle(&unfinished, &place));
        if written.is_err() {
            // Best effort: what stays is swept later.
            let _ = fs::remove_file(&unfinished);
        }
        Ok(written.map(|()| id)?)
    }

    /// Counts blobs as stored now; see [`Blobs::again`].
    pub fn again(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        ids.iter().try_for_each(|id| {
            let place = self.place(id);
            for _ in 0..LOOKS {
                if renew(&place, None, || ())? {
                    return Ok(());
                }
                // It may be on its way back.
                std::thread::sleep(BETWEEN_LOOKS);
            }
            Err(BlobError::Absent(*id))
        })
    }

    /// The bytes of a blob; see [`Blobs::get`].
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let bytes = match fs::read(self.place(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.get_leaving(id)?,
            other => other?,
        };
        if BlobId::of(&bytes) == *id { Ok(bytes) } else { Err(BlobError::Damaged(*id)) }
    }

    /// How many bytes a blob has; see [`Blobs::size`].
    pub fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        match fs::metadata(self.place(id)) {
            Ok(facts) => Ok(Some(facts.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a blob is there.
    pub fn has(&self, id: &BlobId) -> Result<bool, BlobError> {
        Ok(self.size(id)?.is_some())
    }

    /// The blobs after one; see [`Blobs::each`].
    pub fn each(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        let after = after.map(ToString::to_string);
        let start = after.as_deref().unwrap_or_default();
        let mut page: Vec<Listed> = Vec::new();
        for outer in names(&self.root, &start[..start.len().min(2)], 2)? {
            let directory = self.root.join(&outer);
            let from = if start.starts_with(&outer) { &start[2..4] } else { "" };
            for inner in names(&directory, from, 2)? {
                let directory = directory.join(&inner);
                for name in names(&directory, "", 64)? {
                    if name.as_str() > start {
                        page.extend(listed(&directory, &name)?);
                    }
                }
                if page.len() >= PAGE {
                    return Ok(page);
                }
            }
        }
        Ok(page)
    }

    /// Removes a blob that was not stored lately; see [`Blobs::remove`].
    pub fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.remove_while(id, since, || ())
    }

    /// Removes a blob while something else happens at the worst moment.
    fn remove_while(
        &self,
        id: &BlobId,
        since: SystemTime,
        meanwhile: impl FnOnce(),
    ) -> Result<bool, BlobError> {
        let place = self.place(id);
        let is_recent = |path: &Path| Ok::<_, io::Error>(fs::metadata(path)?.modified()? >= since);
        // A name of its own: two who remove the same blob must not take each other's file for theirs.
        let leaving = self.root.join(LEAVING).join(format!("{id}-{}", self.unique()));
        let left = is_recent(&place).and_then(|recent| {
            if recent {
                return Ok(false);
            }
            meanwhile();
            fs::rename(&place, &leaving)?;
            // Whoever stored it again from here on sees that it is gone. Whoever did so between the
            // first look and the rename has left a new time on it, and takes it to be there.
            if is_recent(&leaving)? {
                fs::rename(&leaving, &place)?;
                return Ok(false);
            }
            fs::remove_file(&leaving)?;
            Ok(true)
        });
        match left {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            other => Ok(other?),
        }
    }

    /// Removes what killed processes left unfinished before `since`, and puts back what one of them
    /// was about to remove; how many files that were.
    pub fn tidy(&self, since: SystemTime) -> Result<usize, BlobError> {
        let mut count = 0;
        for entry in entries(&self.root.join(UNFINISHED))? {
            if entry.metadata()?.modified()? < since {
                fs::remove_file(entry.path())?;
                count += 1;
            }
        }
        for entry in entries(&self.root.join(LEAVING))? {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.split('-').next());
            if let Some(Ok(id)) = name.map(str::parse::<BlobId>) {
                let place = self.place(&id);
                if place.exists() {
                    fs::remove_file(entry.path())?;
                } else {
                    self.settle(&entry.path(), &place)?;
                }
                count += 1;
            }
        }
        Ok(count)
    }

    /// Where a blob stands.
    fn place(&self, id: &BlobId) -> PathBuf {
        let name = id.to_string();
        self.root.join(&name[..2]).join(&name[2..4]).join(name)
    }

    /// A name that nobody else uses.
    fn unique(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}-{count}", std::process::id(), time.as_nanos())
    }

    /// A blob that is on its way out, or on its way back.
    ///
    /// Several who remove may have looked before it was stored again, and each moves it away and
    /// back once. So it is looked for more often than there are likely to be of them.
    fn get_leaving(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let name = id.to_string();
        for _ in 0..LOOKS {
            let leaving = entries(&self.root.join(LEAVING))?.into_iter();
            let leaving =
                leaving.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name));
            for path in leaving.map(|entry| entry.path()).chain([self.place(id)]) {
                match fs::read(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    other => return Ok(other?),
                }
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(BlobError::Absent(*id))
    }

    /// Moves a finished file to its place, so that it stays there.
    fn settle(&self, finished: &Path, place: &Path) -> io::Result<()> {
        let directory = place.parent().unwrap_or(&self.root);
        for new in directory.parent().into_iter().chain([directory]) {
            match private::create_directory(new) {
                Ok(()) => sync_directory(new.parent())?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        fs::rename(finished, place)?;
        sync_directory(Some(directory))
    }
}

impl Blobs for FileBlobs {
    async fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.put(bytes)
    }

    async fn again(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        self.again(ids)
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.get(id)
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        self.size(id)
    }

    async fn each(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.each(after)
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.remove(id, since)
    }
}

/// Counts a blob that is there as stored now; whether it is there. One of another length, where that
/// is known, is damaged, and is not taken for it: it is written again.
fn renew(place: &Path, length: Option<u64>, meanwhile: impl FnOnce()) -> Result<bool, BlobError> {
    let renewed = File::open(place).and_then(|file| {
        let facts = file.metadata()?;
        if length.is_some_and(|length| facts.len() != length) {
            return Ok(false);
        }
        // Whoever wrote it a moment ago may not have come to sync the directory.
        let written = facts.created().or_else(|_| facts.modified())?;
        if written.elapsed().is_ok_and(|age| age < FRESH) {
            sync_directory(place.parent())?;
        }
        meanwhile();
        file.set_modified(SystemTime::now())?;
        // It may have been renamed away, and its time looked at, before it was set.
        place.try_exists()
    });
    match renewed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => Ok(other?),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create_new_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes names in a directory durable. Only Unix has, and needs, a way to ask for it.
fn sync_directory(directory: Option<&Path>) -> io::Result<()> {
    match directory {
        Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

fn entries(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other?.collect(),
    }
}

/// The names of a length in a directory that are digits, from one on, in order.
fn names(directory: &Path, from: &str, length: usize) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = entries(directory)?
        .into_iter()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .filter(|name| name.as_str() >= from)
        .collect();
    names.sort();
    Ok(names)
}

/// What is known of a file; nothing if it went away.
fn listed(directory: &Path, name: &str) -> io::Result<Option<Listed>> {
    let Ok(id) = name.parse() else { return Ok(None) };
    match fs::metadata(directory.join(name)) {
        Ok(facts) => Ok(Some(Listed { id, bytes: facts.len(), stored: facts.modified()? })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old blobs in a directory of their own, and a time after which they are not.
    fn aged(name: &str) -> (FileBlobs, BlobId, SystemTime) {
        let name = format!("photic-store-{name}-{}", std::process::id());
        let blobs = FileBlobs::open(std::env::temp_dir().join(name)).unwrap();
        let id = blobs.put(b"contended").unwrap();
        let now = SystemTime::now();
        let file = File::open(blobs.place(&id)).unwrap();
        file.set_modified(now - Duration::from_hours(2)).unwrap();
        (blobs, id, now - Duration::from_hours(1))
    }

    #[test]
    fn a_put_between_the_look_and_the_rename_keeps_the_blob() {
        let (blobs, id, since) = aged("put");
        let meanwhile = || assert_eq!(blobs.put(b"contended").unwrap(), id);
        assert!(!blobs.remove_while(&id, since, meanwhile).unwrap());
        assert_eq!(blobs.get(&id).unwrap(), b"contended");
        assert!(blobs.place(&id).exists(), "it is back at its place");
        fs::remove_dir_all(&blobs.root).unwrap();
    }

    #[test]
    fn a_removal_between_the_look_and_the_touch_makes_the_put_write() {
        let (blobs, id, since) = aged("remove");
        let meanwhile = || assert!(blobs.remove(&id, since).unwrap());
        blobs.put_while(b"contended", meanwhile).unwrap();
        assert_eq!(blobs.get(&id).unwrap(), b"contended");
        fs::remove_dir_all(&blobs.root).unwrap();
    }
}
