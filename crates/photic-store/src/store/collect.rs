//! Garbage: blobs that nothing refers to.
//!
//! A turn puts its blobs first and refers to them afterwards, so a blob that nothing refers to may
//! be about to be. What was stored lately is therefore left alone; and a blob that is stored again
//! counts as stored lately, whoever removes it at that moment ([`Blobs::remove`]).

use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::Store;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::Record;

/// How long things are kept that nothing refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace {
    /// Blobs since they were stored last. Longer than any turn takes from its first blob to its
    /// record.
    pub blobs: Duration,
    /// Handles that are not pinned, with what they name, since they were issued last.
    pub handles: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { blobs: Duration::from_hours(1), handles: Duration::from_hours(30 * 24) }
    }
}

/// What a collection found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Blobs that are kept.
    pub kept: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Blobs that were removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Removes what nothing refers to, while others go on reading and writing.
    pub async fn collect(&self, grace: &Grace) -> Result<Collected, Error> {
        let now = SystemTime::now();
        let before = |age: Duration| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let (stored, issued) = (before(grace.blobs), before(grace.handles));
        self.record.sweep(&self.tenant, issued).await?;
        let mut collected = Collected::default();
        let mut last = None;
        loop {
            let page = self.blobs.each(last.as_ref()).await?;
            let Some(end) = page.last() else { return Ok(collected) };
            last = Some(end.id);
            for blob in page {
                let goes = blob.stored < stored
                    && !self.record.reaches(&self.tenant, &blob.id, issued).await?
                    && self.blobs.remove(&blob.id, stored).await?;
                if goes {
                    collected.removed += 1;
                    collected.removed_bytes += blob.bytes;
                } else {
                    collected.kept += 1;
                    collected.kept_bytes += blob.bytes;
                }
            }
        }
    }
}
