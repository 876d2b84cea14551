//! Blob storage: bytes under the hash of their content, stored once and verified on read.
//!
//! The trait covers a directory and a bucket. Its functions return futures, because a bucket is
//! remote; those of [`FileBlobs`] are ready at the first poll.

mod files;
mod id;

use std::time::SystemTime;

pub use files::FileBlobs;
pub use id::BlobId;

use crate::error::BlobError;

/// A storage of blobs.
pub trait Blobs: Send + Sync {
    /// Stores bytes durably and returns their identifier. Bytes that are stored already are not
    /// written again, but their storage time is renewed. See [`Blobs::remove`].
    fn put(&self, bytes: &[u8]) -> impl Future<Output = Result<BlobId, BlobError>> + Send;

    /// Stores several blobs, like [`put`](Self::put) for each. A bucket combines them into one
    /// object, because it charges per request.
    fn put_all(
        &self,
        blobs: &[Vec<u8>],
    ) -> impl Future<Output = Result<Vec<BlobId>, BlobError>> + Send {
        async move {
            let mut ids = Vec::with_capacity(blobs.len());
            for bytes in blobs {
                ids.push(self.put(bytes).await?);
            }
            Ok(ids)
        }
    }

    /// Renews the storage time of blobs without their bytes. Fails with [`BlobError::Absent`] if
    /// one of them does not exist.
    fn touch(&self, ids: &[BlobId]) -> impl Future<Output = Result<(), BlobError>> + Send;

    /// Reads a blob. Fails if the bytes do not match the identifier.
    fn get(&self, id: &BlobId) -> impl Future<Output = Result<Vec<u8>, BlobError>> + Send;

    /// Returns the size in bytes, or `None` if the blob does not exist. Does not verify the bytes.
    fn size(&self, id: &BlobId) -> impl Future<Output = Result<Option<u64>, BlobError>> + Send;

    /// Returns whether a blob exists.
    fn has(&self, id: &BlobId) -> impl Future<Output = Result<bool, BlobError>> + Send {
        async move { Ok(self.size(id).await?.is_some()) }
    }

    /// Lists the blobs that follow `after` in the order of identifiers, one page per call. The page
    /// is empty at the end.
    fn list(
        &self,
        after: Option<&BlobId>,
    ) -> impl Future<Output = Result<Vec<Listed>, BlobError>> + Send;

    /// Removes a blob unless its storage time is `since` or later. Returns whether it was removed.
    ///
    /// A blob that is stored at the same moment is not lost: either its writer sees that it is
    /// missing and writes it, or the removal sees the new time and keeps it.
    fn remove(
        &self,
        id: &BlobId,
        since: SystemTime,
    ) -> impl Future<Output = Result<bool, BlobError>> + Send;
}

/// A blob in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The identifier.
    pub id: BlobId,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last `put` or `touch`.
    pub stored: SystemTime,
}
