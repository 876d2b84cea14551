//! Blobs of a tenant: stretches of objects in a bucket, found by an index in the record's database.
//!
//! What is put together, or at the same time, becomes one object, for a bucket counts requests more
//! than bytes. A key is `t/<tenant>/<day>/<random>`: written once, by us, and gone with its day. So two who store the
//! same bytes write two objects, and one row; whoever removes an object can never hit a new one;
//! and nothing is expected of a server but that it gives back what it took, which is proved on
//! every read. Bytes are shared inside a tenant and a day, never beyond.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use bytes::Bytes;
use photic_store::{BlobError, BlobId, Blobs, Error, Listed, Tenant};

use crate::bucket::{Bucket, BucketError};
use crate::packs::Packs;
use crate::postgres::{Place, Postgres};

/// The blobs of one tenant.
#[derive(Clone, Debug)]
pub struct BucketBlobs {
    index: Postgres,
    bucket: Bucket,
    tenant: Tenant,
}

/// The day of what outlives its day.
pub(crate) const KEPT: i32 = 0;

impl BucketBlobs {
    /// Blobs of a tenant in a bucket, with their index in a database.
    pub const fn new(index: Postgres, bucket: Bucket, tenant: Tenant) -> Self {
        Self { index, bucket, tenant }
    }

    /// Where the bytes of a blob are, the newest first.
    pub async fn places(&self, id: &BlobId) -> Result<Vec<Place>, BlobError> {
        self.index.places(&self.tenant, id).await.map_err(index_failed)
    }

    /// What waits to be stored in this replica.
    pub(crate) fn packs(&self) -> &Packs {
        self.index.packs()
    }

    /// Copies a blob to where it stays for longer than its day.
    pub(crate) async fn keep(&self, id: BlobId, bytes: Bytes) -> Result<(), BlobError> {
        let owner = self.index.owner_id(&self.tenant).await.map_err(index_failed)?;
        self.write((owner, KEPT), &[(id, bytes)]).await
    }

    /// Writes blobs as one object, and says where they are.
    pub(crate) async fn write(
        &self,
        (owner, day): (i64, i32),
        blobs: &[(BlobId, Bytes)],
    ) -> Result<(), BlobError> {
        let object = key(owner, day)?;
        let pieces = blobs.iter().map(|(_, bytes)| bytes.clone()).collect();
        self.bucket.put(&object, pieces).await.map_err(bucket_failed)?;
        let mut at = 0;
        let places = blobs.iter().map(|(id, bytes)| {
            let place = Place { object: object.clone(), at, length: bytes.len() as u64 };
            at += place.length;
            (*id, place)
        });
        let places: Vec<(BlobId, Place)> = places.collect();
        let won =
            self.index.add_places(owner, day, &object, &places).await.map_err(index_failed)?;
        if won == 0 {
            // Others stored the very same meanwhile. What stays goes with its day.
            let _ = self.bucket.remove(&object).await;
        }
        Ok(())
    }

    /// The bytes of a blob at a place, if they are its.
    pub(crate) async fn read(&self, id: &BlobId, place: &Place) -> Result<Bytes, BlobError> {
        let bytes = if place.length == 0 {
            // No stretch of an object is empty.
            Bytes::new()
        } else {
            let range = place.at..place.at.saturating_add(place.length);
            match self.bucket.get(&place.object, range).await {
                Err(BucketError::Absent) => return Err(BlobError::Absent(*id)),
                other => other.map_err(bucket_failed)?,
            }
        };
        if BlobId::of(&bytes) == *id { Ok(bytes) } else { Err(BlobError::Damaged(*id)) }
    }
}

impl Blobs for BucketBlobs {
    async fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        self.put_all(&[bytes.to_vec()]).await?;
        Ok(BlobId::of(bytes))
    }

    async fn put_all(&self, blobs: &[Vec<u8>]) -> Result<Vec<BlobId>, BlobError> {
        let ids: Vec<BlobId> = blobs.iter().map(|bytes| BlobId::of(bytes)).collect();
        let asked: BTreeSet<BlobId> = ids.iter().copied().collect();
        let (folder, there) = self.index.renew(&self.tenant, &asked).await.map_err(index_failed)?;
        let mut missing = BTreeMap::new();
        for (id, bytes) in ids.iter().zip(blobs).filter(|(id, _)| !there.contains(id)) {
            missing.entry(*id).or_insert_with(|| Bytes::copy_from_slice(bytes));
        }
        if !missing.is_empty() {
            self.pack(folder, missing.into_iter().collect()).await?;
        }
        Ok(ids)
    }

    async fn touch(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        let asked: BTreeSet<BlobId> = ids.iter().copied().collect();
        let (_, there) = self.index.renew(&self.tenant, &asked).await.map_err(index_failed)?;
        // What is of an earlier day goes with it, and whoever stores it now may be there longer.
        for id in asked.difference(&there) {
            let bytes = self.get(id).await?;
            self.put_all(&[bytes]).await?;
        }
        Ok(())
    }

    async fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let mut failure = BlobError::Absent(*id);
        for place in self.places(id).await? {
            match self.read(id, &place).await {
                Ok(bytes) => return Ok(bytes.into()),
                // Of another day there may be one that is whole.
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn size(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        Ok(self.places(id).await?.first().map(|place| place.length))
    }

    async fn list(&self, after: Option<&BlobId>) -> Result<Vec<Listed>, BlobError> {
        self.index.listed(&self.tenant, after).await.map_err(index_failed)
    }

    async fn remove(&self, id: &BlobId, since: SystemTime) -> Result<bool, BlobError> {
        let removed = self.index.remove_places(&self.tenant, id, since).await;
        let removed = removed.map_err(index_failed)?;
        for object in &removed.objects {
            // Nothing refers to it any more; what stays goes with its day.
            let _ = self.bucket.remove(object).await;
        }
        Ok(removed.is_gone)
    }
}

/// The folder of a tenant's day.
pub(crate) fn folder(owner: i64, day: i32) -> String {
    if day == KEPT { format!("kept/{owner}") } else { format!("t/{owner}/{day}") }
}

/// A new key.
fn key(owner: i64, day: i32) -> Result<String, BlobError> {
    let mut random = [0; 16];
    let none = |_| BlobError::Io(std::io::Error::other("the system gives no random numbers"));
    getrandom::fill(&mut random).map_err(none)?;
    Ok(format!("{}/{:032x}", folder(owner, day), u128::from_le_bytes(random)))
}

fn bucket_failed(error: BucketError) -> BlobError {
    BlobError::Unavailable(error.into())
}

fn index_failed(error: Error) -> BlobError {
    match error {
        Error::Blob(error) => error,
        error => BlobError::Unavailable(error.into()),
    }
}
