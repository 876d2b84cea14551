//! Blobs that are read once, so that the witness does not request a picture for every turn.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use photic_store::{BlobError, BlobId, Blobs, Listed};

/// Blobs with a cache of those that were read.
#[derive(Debug)]
pub struct CachedBlobs<B> {
    blobs: B,
    read: Mutex<BTreeMap<BlobId, Vec<u8>>>,
}

impl<B> CachedBlobs<B> {
    /// Creates an empty cache.
    pub const fn new(blobs: B) -> Self {
        Self { blobs, read: Mutex::new(BTreeMap::new()) }
    }
}

impl<B: Blobs> Blobs for CachedBlobs<B> {
    async fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.blobs.put(bytes).await
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if let Some(bytes) = known {
            return Ok(bytes);
        }
        let bytes = self.blobs.get(id).await?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(*id, bytes.clone());
        Ok(bytes)
    }

    async fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        self.blobs.touch(ids).await
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        self.blobs.size(id).await
    }

    async fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.blobs.list(after).await
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        self.blobs.remove(id, since).await
    }
}
