//! Stores blobs as files below a directory: `ab/cd/<full name>`.
//!
//! A blob appears whole or not at all: it is written to a temporary file, synced and renamed. Any
//! number of processes may do so at once, because they write the same bytes to the same path. No
//! locks are used.

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
    /// Counter that makes the names of temporary files unique within a process.
    count: AtomicU64,
}

/// Directory of temporary files. A killed process may leave some behind.
const TEMPORARY_DIRECTORY: &str = "unfinished";
/// Directory of files that are being removed.
const REMOVING_DIRECTORY: &str = "leaving";
/// Age up to which the directory entry of a file may not be synced yet.
const SYNC_AGE: Duration = Duration::from_mins(1);
/// Number of attempts to find a blob that another process is moving, and the pause between them.
const MAX_ATTEMPTS: usize = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_micros(200);
/// Approximate number of blobs in a page of a listing.
const PAGE_SIZE: usize = 1000;

impl FileBlobs {
    /// Opens a directory. Creates it if it does not exist.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let root = root.into();
        for directory in
            [root.clone(), root.join(TEMPORARY_DIRECTORY), root.join(REMOVING_DIRECTORY)]
        {
            // Existing blobs must stay readable when the disk is full.
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

    /// Stores bytes. See [`Blobs::put`].
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.put_while(bytes, || ())
    }

    /// Stores bytes. Tests use `meanwhile` to act between the check and the write.
    fn put_while(&self, bytes: &[u8], meanwhile: impl FnOnce()) -> Result<BlobId, BlobError> {
        let id = BlobId::of(bytes);
        let place = self.place(&id);
        if renew(&place, Some(bytes.len() as u64), meanwhile)? {
            return Ok(id);
        }
        let unfinished = self.root.join(TEMPORARY_DIRECTORY).join(self.unique());
        let written = write(&unfinished, bytes).and_then(|()| self.settle(&unfinished, &place));
        if written.is_err() {
            // Best effort: a file that stays is removed by `tidy`.
            let _ = fs::remove_file(&unfinished);
        }
        Ok(written.map(|()| id)?)
    }

    /// Renews the storage time of blobs. See [`Blobs::touch`].
    pub fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        ids.iter().try_for_each(|id| {
            let place = self.place(id);
            for _ in 0..MAX_ATTEMPTS {
                if renew(&place, None, || ())? {
                    return Ok(());
                }
                // Another process may be moving it back.
                std::thread::sleep(ATTEMPT_PAUSE);
            }
            Err(BlobError::Absent(*id))
        })
    }

    /// Reads a blob. See [`Blobs::get`].
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let bytes = match fs::read(self.place(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.get_leaving(id)?,
            other => other?,
        };
        if BlobId::of(&bytes) == *id { Ok(bytes) } else { Err(BlobError::Damaged(*id)) }
    }

    /// Returns the size of a blob in bytes. See [`Blobs::size`].
    pub fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        match fs::metadata(self.place(id)) {
            Ok(facts) => Ok(Some(facts.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a blob exists.
    pub fn has(&self, id: &BlobId) -> Result<bool, BlobError> {
        Ok(self.size(id)?.is_some())
    }

    /// Lists the blobs after one. See [`Blobs::list`].
    pub fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
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
                if page.len() >= PAGE_SIZE {
                    return Ok(page);
                }
            }
        }
        Ok(page)
    }

    /// Removes a blob that was not stored recently. See [`Blobs::remove`].
    pub fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.remove_while(id, since, || ())
    }

    /// Removes a blob. Tests use `meanwhile` to act between the check and the rename.
    fn remove_while(
        &self,
        id: &BlobId,
        since: SystemTime,
        meanwhile: impl FnOnce(),
    ) -> Result<bool, BlobError> {
        let place = self.place(id);
        let is_recent = |path: &Path| Ok::<_, io::Error>(fs::metadata(path)?.modified()? >= since);
        // The name is unique, so that two processes that remove the same blob do not mix up their
        // files.
        let leaving = self.root.join(REMOVING_DIRECTORY).join(format!("{id}-{}", self.unique()));
        let left = is_recent(&place).and_then(|recent| {
            if recent {
                return Ok(false);
            }
            meanwhile();
            fs::rename(&place, &leaving)?;
            // A writer that comes after the rename sees that the blob is missing and writes it
            // again. A writer that came before it has renewed the time and relies on the file, so
            // it is moved back.
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

    /// Removes temporary files that killed processes left before `since`, and restores blobs whose
    /// removal was interrupted. Returns the number of files.
    pub fn tidy(&self, since: SystemTime) -> Result<usize, BlobError> {
        let mut count = 0;
        for entry in entries(&self.root.join(TEMPORARY_DIRECTORY))? {
            if entry.metadata()?.modified()? < since {
                fs::remove_file(entry.path())?;
                count += 1;
            }
        }
        for entry in entries(&self.root.join(REMOVING_DIRECTORY))? {
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

    /// Returns the path of a blob.
    fn place(&self, id: &BlobId) -> PathBuf {
        let name = id.to_string();
        self.root.join(&name[..2]).join(&name[2..4]).join(name)
    }

    /// Returns a unique file name.
    fn unique(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}-{count}", std::process::id(), time.as_nanos())
    }

    /// Reads a blob that another process is moving away or back.
    ///
    /// Several processes may try to remove it at once, and each moves it away and back once. The
    /// number of attempts is higher than the likely number of such processes.
    fn get_leaving(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let name = id.to_string();
        for _ in 0..MAX_ATTEMPTS {
            let leaving = entries(&self.root.join(REMOVING_DIRECTORY))?.into_iter();
            let leaving =
                leaving.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name));
            for path in leaving.map(|entry| entry.path()).chain([self.place(id)]) {
                match fs::read(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    other => return Ok(other?),
                }
            }
            std::thread::sleep(ATTEMPT_PAUSE);
        }
        Err(BlobError::Absent(*id))
    }

    /// Renames a finished file to its final path and syncs the directories.
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

    async fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        self.touch(ids)
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.get(id)
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        self.size(id)
    }

    async fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.list(after)
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.remove(id, since)
    }
}

/// Renews the storage time of a blob. Returns false if it does not exist, or if its length differs
/// from the expected one, which means that it is damaged.
fn renew(place: &Path, length: Option<u64>, meanwhile: impl FnOnce()) -> Result<bool, BlobError> {
    let renewed = File::open(place).and_then(|file| {
        let facts = file.metadata()?;
        if length.is_some_and(|length| facts.len() != length) {
            return Ok(false);
        }
        // Its writer may not have synced the directory yet.
        let written = facts.created().or_else(|_| facts.modified())?;
        if written.elapsed().is_ok_and(|age| age < SYNC_AGE) {
            sync_directory(place.parent())?;
        }
        meanwhile();
        file.set_modified(SystemTime::now())?;
        // Another process may have renamed the file and read its old time in between.
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

/// Syncs a directory, so that its entries survive a crash. Only Unix needs and offers this.
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

/// Lists the hexadecimal names of a given length in a directory, from `from` on, in order.
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

/// Reads the facts of a file. Returns `None` if it has disappeared.
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

    /// Creates an old blob in a new directory. Returns a time after which it was not stored.
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
