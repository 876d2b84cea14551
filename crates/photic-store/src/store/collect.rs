//! Garbage collection of blobs that nothing refers to.
//!
//! A turn stores its blobs before the record that refers to them. So a blob without references may
//! get one soon, and recently stored blobs are kept. Storing a blob again renews its time, even
//! while another process removes it ([`Blobs::remove`]).

use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::Store;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::Record;

/// Time for which unreferenced things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GracePeriods {
    /// For blobs, since they were stored last. Longer than a turn takes from its first blob to its
    /// record.
    pub blobs: Duration,
    /// For unpinned handles and their blobs, since they were issued last.
    pub handles: Duration,
}

impl Default for GracePeriods {
    fn default() -> Self {
        Self { blobs: Duration::from_hours(1), handles: Duration::from_hours(30 * 24) }
    }
}

/// Result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CollectReport {
    /// Number of blobs that were kept.
    pub kept: u64,
    /// Their size in bytes.
    pub kept_bytes: u64,
    /// Number of blobs that were removed.
    pub removed: u64,
    /// Their size in bytes.
    pub removed_bytes: u64,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Removes everything without references, while other processes read and write.
    pub async fn collect(&self, grace: &GracePeriods) -> Result<CollectReport, Error> {
        let now = SystemTime::now();
        let before = |age: Duration| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let (stored, issued) = (before(grace.blobs), before(grace.handles));
        self.record.sweep(&self.tenant, issued).await?;
        let mut collected = CollectReport::default();
        let mut last = None;
        loop {
            let page = self.blobs.list(last.as_ref()).await?;
            let Some(end) = page.last() else { return Ok(collected) };
            last = Some(end.id);
            for blob in page {
                let goes = blob.stored < stored
                    && !self.record.is_referenced(&self.tenant, &blob.id, issued).await?
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
