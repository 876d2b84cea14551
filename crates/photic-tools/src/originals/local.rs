//! The backend on disk: originals and answers in the directory of a local store.
//!
//! Originals are blobs with handles of `photic-store`. Answers are small files beside them, named
//! by a digest of the question. Originals that no session refers to may be collected at any time;
//! their handles are absent then.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use photic_store::{BlobError, Error, Facts, FileBlobs, Handle, Sqlite, Tenant, private};

use super::{LookupError, Originals};

/// Largest stored answer in bytes.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Originals and answers below the directory of a local store.
#[derive(Debug)]
pub struct LocalOriginals {
    record: Sqlite,
    blobs: FileBlobs,
    tenant: Tenant,
    answers: PathBuf,
    /// Counter that makes the names of temporary files unique within a process.
    count: AtomicU64,
}

impl LocalOriginals {
    /// Opens the directory of a store. Creates it if it does not exist.
    pub fn open(directory: impl AsRef<Path>, tenant: Tenant) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let record = Sqlite::open(directory)?;
        let blobs = FileBlobs::open(directory.join("blobs"))?;
        let answers = directory.join("answers");
        private::make_directory(&answers)
            .and_then(|()| private::tighten_directory(&answers))
            .map_err(Error::Directory)?;
        Ok(Self { record, blobs, tenant, answers, count: AtomicU64::new(0) })
    }

    fn answer_path(&self, key: &str) -> Option<PathBuf> {
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        // One file per tenant and question: tenants do not share answers.
        let mut hasher = blake3::Hasher::new_derive_key("photic 2026 answers of a tenant");
        hasher.update(self.tenant.as_str().as_bytes()).update(b"\0").update(key.as_bytes());
        plain.then(|| self.answers.join(hasher.finalize().to_hex().as_str()))
    }
}

impl Originals for LocalOriginals {
    fn put(&self, bytes: &[u8], media_type: &str) -> io::Result<String> {
        let blob = self.blobs.put(bytes).map_err(io::Error::other)?;
        let header = photic_pixels::header::probe(bytes).ok();
        let facts = Facts {
            media_type: Some(media_type.to_owned()),
            size: header.map(|header| (header.width, header.height)),
            bytes: bytes.len() as u64,
            label: None,
        };
        let handle = self.record.issue(&self.tenant, &blob, &facts).map_err(io::Error::other)?;
        Ok(handle.as_str().to_owned())
    }

    fn get(&self, handle: &str) -> Result<Vec<u8>, LookupError> {
        let absent = |why: &str| LookupError::Absent(why.to_owned());
        let handle: Handle = handle.parse().map_err(|_| absent("it is no handle"))?;
        let issued = self.record.resolve(&self.tenant, &handle);
        let issued = issued.map_err(|error| LookupError::Failed(io::Error::other(error)))?;
        let issued = issued.ok_or_else(|| absent("it was never given out here"))?;
        self.blobs.get(&issued.blob).map_err(|error| match error {
            BlobError::Absent(_) => absent("what it stood for was dropped"),
            BlobError::Damaged(_) => absent("what it stood for is damaged"),
            other => LookupError::Failed(io::Error::other(other)),
        })
    }

    fn answer(&self, key: &str) -> Option<String> {
        let path = self.answer_path(key)?;
        let size = fs::metadata(&path).ok()?.len();
        (size <= MAX_ANSWER_BYTES).then(|| fs::read_to_string(path).ok()).flatten()
    }

    /// Writes a temporary file and renames it, so that an answer is stored whole or not at all.
    fn keep_answer(&self, key: &str, text: &str) -> io::Result<()> {
        let Some(path) = self.answer_path(key) else { return Ok(()) };
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.answers.join(format!("unfinished-{}-{number}", std::process::id()));
        let written = private::replace_file(&unfinished)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_data()))
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            let _ = fs::remove_file(unfinished);
        }
        written
    }
}
