//! Blobs: bytes under the name of their own content, stored once, verified on read.
//!
//! The trait is what a directory and a bucket have in common. Its functions give futures, because a
//! bucket is far away; those of [`FileBlobs`] are done at the first poll.

mod files;
mod id;

use std::time::SystemTime;

pub use files::FileBlobs;
pub use id::BlobId;

use crate::error::BlobError;

/// Where blobs are kept.
pub trait Blobs: Send + Sync {
    /// Stores bytes, durably once this is done, and says what they are called. Bytes that are
    /// there already are not written again, but count as stored now: see [`Blobs::remove`].
    fn put(&self, bytes: &[u8]) -> impl Future<Output = Result<BlobId, BlobError>> + Send;

    /// Stores several at once, as [`put`](Self::put) does each: a bucket makes one object of them,
    /// for it counts requests more than bytes.
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

    /// Counts blobs as stored now, as [`put`](Self::put) of their bytes would; an error
    /// ([`BlobError::Absent`]) if one of them is not there. For who knows what was stored and has no
    /// bytes at hand.
    fn again(&self, ids: &[BlobId]) -> impl Future<Output = Result<(), BlobError>> + Send;

    /// The bytes, which are the very ones that were stored: anything else is an error.
    fn get(&self, id: &BlobId) -> impl Future<Output = Result<Vec<u8>, BlobError>> + Send;

    /// How many bytes it has; `None` if it is not there. They are not looked at.
    fn size(&self, id: &BlobId) -> impl Future<Output = Result<Option<u64>, BlobError>> + Send;

    /// Whether it is there.
    fn has(&self, id: &BlobId) -> impl Future<Output = Result<bool, BlobError>> + Send {
        async move { Ok(self.size(id).await?.is_some()) }
    }

    /// The blobs that come after one in the order of names, some at a time; none at the end.
    fn each(
        &self,
        after: Option<&BlobId>,
    ) -> impl Future<Output = Result<Vec<Listed>, BlobError>> + Send;

    /// Removes a blob unless it was stored, or stored again, at `since` or later; whether it did.
    ///
    /// One that is stored at the same moment is not lost: either its writer sees that it is gone
    /// and writes it, or its remover sees that it was stored again and leaves it.
    fn remove(
        &self,
        id: &BlobId,
        since: SystemTime,
    ) -> impl Future<Output = Result<bool, BlobError>> + Send;
}

/// A blob in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub id: BlobId,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was stored last.
    pub stored: SystemTime,
}
