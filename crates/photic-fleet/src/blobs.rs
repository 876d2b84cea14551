//! Blobs of a tenant: ranges of objects in a bucket, indexed in the record's database.
//!
//! Blobs that are stored together or at the same time become one object, because a bucket charges
//! per request. A key is `t/<tenant>/<day>/<random>`. It is written once and deleted with its day.
//! If two writers store the same bytes, they write two objects and one row, and deleting an object
//! never affects a new one. The server only has to return what it stored, which is verified on
//! every read. Bytes are shared within a tenant and a day, never beyond.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use photic_store::{BlobError, BlobId, Blobs, Error, Listed, Tenant};

use crate::bucket::{Bucket, BucketError};
use crate::packs::{Folder, Job};
use crate::postgres::{BlobLocation, Postgres};

/// The blobs of one tenant.
#[derive(Clone, Debug)]
pub struct BucketBlobs {
    index: Postgres,
    bucket: Bucket,
    tenant: Tenant,
}

/// Day number of blobs that outlive their day.
pub(crate) const KEPT_DAY: i32 = 0;

impl BucketBlobs {
    /// Creates the blobs of a tenant from a bucket and its index.
    pub const fn new(index: Postgres, bucket: Bucket, tenant: Tenant) -> Self {
        Self { index, bucket, tenant }
    }

    /// Returns the locations of a blob, newest first.
    pub async fn places(&self, id: &BlobId) -> Result<Vec<BlobLocation>, BlobError> {
        self.index.places(&self.tenant, id).await.map_err(index_failed)
    }

    /// Stores blobs of a day together with others that arrive meanwhile. A separate task writes
    /// the objects, so a caller that stops waiting does not affect others.
    async fn pack(&self, folder: Folder, blobs: Vec<(BlobId, Bytes)>) -> Result<(), BlobError> {
        let (job, outcome) = Job::new(blobs);
        if let Some(jobs) = self.index.packs().add(folder, job) {
            tokio::spawn(self.clone().write_packs(folder, jobs));
        }
        match outcome.await {
            Ok(stored) => stored.map_err(|error| BlobError::Unavailable(error.into())),
            Err(_) => Err(BlobError::Unavailable("the blob writer has stopped".into())),
        }
    }

    /// Writes objects while jobs wait.
    async fn write_packs(self, folder: Folder, jobs: Vec<Job>) {
        let mut next = Some(jobs);
        while let Some(jobs) = next {
            let all = jobs.iter().flat_map(|job| job.blobs.iter().cloned());
            // Equal blobs of several callers are stored once.
            let all: BTreeMap<BlobId, Bytes> = all.collect();
            let all: Vec<(BlobId, Bytes)> = all.into_iter().collect();
            let stored = self.write(folder, &all).await.map_err(Arc::new);
            for job in jobs {
                // The caller may have stopped waiting.
                let _ = job.done.send(stored.clone());
            }
            next = self.index.packs().next(folder);
        }
    }

    /// Copies a blob to storage that outlives its day.
    pub(crate) async fn keep(&self, id: BlobId, bytes: Bytes) -> Result<(), BlobError> {
        let owner = self.index.owner_id(&self.tenant).await.map_err(index_failed)?;
        self.write((owner, KEPT_DAY), &[(id, bytes)]).await
    }

    /// Writes blobs as one object and indexes their locations.
    pub(crate) async fn write(
        &self,
        (owner, day): Folder,
        blobs: &[(BlobId, Bytes)],
    ) -> Result<(), BlobError> {
        let object = key(owner, day)?;
        let pieces = blobs.iter().map(|(_, bytes)| bytes.clone()).collect();
        self.bucket.put(&object, pieces).await.map_err(bucket_failed)?;
        let mut at = 0;
        let places = blobs.iter().map(|(id, bytes)| {
            let place = BlobLocation { object: object.clone(), at, length: bytes.len() as u64 };
            at += place.length;
            (*id, place)
        });
        let places: Vec<(BlobId, BlobLocation)> = places.collect();
        let won =
            self.index.add_places(owner, day, &object, &places).await.map_err(index_failed)?;
        if won == 0 {
            // Others stored the same blobs meanwhile. A remaining object is deleted with its day.
            let _ = self.bucket.remove(&object).await;
        }
        Ok(())
    }

    /// Reads a blob at a location and verifies it.
    pub(crate) async fn read(&self, id: &BlobId, place: &BlobLocation) -> Result<Bytes, BlobError> {
        let bytes = if place.length == 0 {
            // An empty range cannot be requested.
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
        // A blob of an earlier day is deleted with it, so it is stored again today.
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
                // Another day may have an intact copy.
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
            // The object is no longer referenced. If this fails, it is deleted with its day.
            let _ = self.bucket.remove(object).await;
        }
        Ok(removed.is_gone)
    }
}

/// Returns the folder of a tenant's day.
pub(crate) fn folder(owner: i64, day: i32) -> String {
    if day == KEPT_DAY { format!("kept/{owner}") } else { format!("t/{owner}/{day}") }
}

/// Creates a random key.
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
