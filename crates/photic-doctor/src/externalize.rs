//! Moves media out of a session file and back: the file holds names of blobs instead of bytes.
//!
//! Restoring gives the original file, byte for byte. A session without its media is for archiving;
//! an agent cannot continue it.

use std::path::Path;

use photic::json::{Doc, Value};
use photic::media::{Payload, Source};
use photic_store::{BlobId, FileBlobs};

use crate::blob_name::{BLOB_PREFIX, named};
use crate::error::Error;
use crate::format::kind::SessionFormat;
use crate::format::{Container, contained};
use crate::lines::Lines;
use crate::media_in_record::located_media;
use crate::repair::{AtomicFile, identity};

/// Counts of moved media and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedMedia {
    /// The number of media.
    pub media: usize,
    /// Bytes of the file before.
    pub before: u64,
    /// Bytes of the file that was written.
    pub after: u64,
}

/// Shortest base64 that is moved; for less, a name would take as much space.
const MIN_MOVED_BYTES: usize = 512;

/// Writes a session to `to` with its media moved to a blob store.
pub fn externalize(path: &Path, to: &Path, blobs: &FileBlobs) -> Result<MovedMedia, Error> {
    rewritten(path, to, &mut |format, line| {
        let Some(doc) = Doc::read(line) else { return Ok(None) };
        let Some(root) = doc.root() else { return Ok(None) };
        let mut edits = Vec::new();
        for spot in located_media(&format.read(root)) {
            let media = spot.block.media();
            let Source::Data(payload) = &media.source else { continue };
            if payload.base64().len() < MIN_MOVED_BYTES {
                continue;
            }
            // Only canonical base64, which can be restored exactly.
            let Some(at) = memchr::memmem::find(spot.block.data.raw(), payload.base64()) else {
                continue;
            };
            let bytes = payload.decode();
            if Payload::encode(&bytes).base64() != payload.base64() {
                continue;
            }
            let id = blobs.put(&bytes).map_err(Error::Blobs)?;
            let start = spot.block.data.span().start + at;
            edits.push((
                start..start + payload.base64().len(),
                format!("{BLOB_PREFIX}{id}").into_bytes(),
            ));
        }
        Ok((!edits.is_empty()).then_some(edits))
    })
}

/// Writes a session to `to` with its media put back.
pub fn restore(path: &Path, to: &Path, blobs: &FileBlobs) -> Result<MovedMedia, Error> {
    rewritten(path, to, &mut |_, line| {
        let Some(doc) = Doc::read(line) else { return Ok(None) };
        let mut edits = Vec::new();
        let mut open: Vec<Value<'_, '_>> = doc.root().into_iter().collect();
        while let Some(value) = open.pop() {
            open.extend(value.items());
            open.extend(value.entries().map(|(_, value)| value));
            let Some((range, name)) = named(value) else { continue };
            let id: BlobId =
                name.parse().map_err(|_| Error::NotABlob(path.to_owned(), name.clone()))?;
            let bytes = blobs.get(&id).map_err(Error::Blobs)?;
            edits.push((range, Payload::encode(&bytes).base64().to_vec()));
        }
        Ok((!edits.is_empty()).then_some(edits))
    })
}

/// Replacements of ranges of a line.
type Edits = Vec<(std::ops::Range<usize>, Vec<u8>)>;
/// Computes the replacements of a line.
type Change<'c> = dyn FnMut(SessionFormat, &[u8]) -> Result<Option<Edits>, Error> + 'c;

/// Writes a file with replacements.
fn rewritten(path: &Path, to: &Path, change: &mut Change<'_>) -> Result<MovedMedia, Error> {
    let before = identity(path)?;
    let (format, container) = contained(path)?;
    if matches!(container, Container::SessionTable(_)) {
        return Err(Error::NoLines(path.to_owned()));
    }
    let mut moved = MovedMedia { before: before.0.0, ..MovedMedia::default() };
    let mut out = AtomicFile::create(to)?;
    let mut record = |line: &[u8], out: &mut AtomicFile| -> Result<(), Error> {
        let mut edits = change(format, line)?.unwrap_or_default();
        edits.sort_by_key(|(range, _)| range.start);
        moved.media += edits.len();
        let mut at = 0;
        for (range, with) in &edits {
            out.write(&line[at..range.start])?;
            out.write(with)?;
            at = range.end;
        }
        out.write(&line[at..])
    };
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            while let Some(line) = lines.next_line()? {
                record(line, &mut out)?;
            }
        }
        Container::Document | Container::SessionTable(_) => {
            let body = std::fs::read(path).map_err(|error| Error::Read(path.to_owned(), error))?;
            record(&body, &mut out)?;
        }
    }
    out.finish(path, &before)?;
    moved.after = std::fs::metadata(to).map_err(|error| Error::Read(to.to_owned(), error))?.len();
    Ok(moved)
}
