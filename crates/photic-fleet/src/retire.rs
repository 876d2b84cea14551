//! Retention by day: drops tables and empties folders, without counting references.
//!
//! A session belongs to the day it began on, and its blobs to that day or a later one. So when all
//! days before one are dropped together, the remaining sessions miss nothing. The next request of a
//! running conversation starts a new session, because it contains all of it. Blobs of pinned
//! handles and of references that are valid for longer are copied first.

use std::time::{Duration, UNIX_EPOCH};

use photic_store::{BlobError, Blobs as _, Error, Record as _, WorkStore as _};
use serde::Serialize;

use crate::Fleet;
use crate::blobs::folder;

/// Result of dropping old days.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retired {
    /// Dropped days, counted from 1970.
    pub days: Vec<i32>,
    /// Number of removed objects.
    pub objects: usize,
    /// Number of blobs that were kept for pinned handles and valid references.
    pub kept: usize,
}

impl Fleet {
    /// Drops all days that are more than `days` back. Today and the days between stay. If a replica
    /// is killed meanwhile, the next call completes the work.
    pub async fn retire(&self, days: u16) -> Result<Retired, Error> {
        let before = self.record.today().await? - i32::from(days);
        let mut retired = Retired { kept: self.rescue(before).await?, ..Retired::default() };
        retired.days = self.record.drop_days(before).await?;
        let owners = self.record.owners().await?;
        for &owner in &owners {
            for name in self.bucket.folders(&format!("t/{owner}")).await.map_err(away)? {
                let Some(day) = name.parse().ok().filter(|day| *day < before) else { continue };
                for object in self.bucket.list(&folder(owner, day)).await.map_err(away)? {
                    self.bucket.remove(&object).await.map_err(away)?;
                    retired.objects += 1;
                }
            }
        }
        self.remove_late_uploads(None).await?;
        let today = self.record.today().await?;
        retired.objects += self.remove_stray_uploads(&owners, today).await?;
        self.let_go().await?;
        let day = Duration::from_hours(24);
        self.record.forget_work(UNIX_EPOCH + day * before.try_into().unwrap_or_default()).await?;
        Ok(retired)
    }

    /// Copies blobs that outlive their day before it is dropped.
    async fn rescue(&self, before: i32) -> Result<usize, Error> {
        let mut kept = 0;
        for (tenant, id) in self.record.wanted_before(before).await? {
            let blobs = self.store(tenant).blobs;
            match blobs.get(&id).await {
                Ok(bytes) => {
                    blobs.keep(id, bytes.into()).await?;
                    kept += 1;
                }
                // A lost blob cannot be copied; the others still can.
                Err(BlobError::Absent(_) | BlobError::Damaged(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(kept)
    }

    /// Removes expired references, and copies that are not needed any more.
    async fn let_go(&self) -> Result<(), Error> {
        self.record.end_media().await?;
        for (tenant, id) in self.record.kept().await? {
            if !self.record.is_referenced(&tenant, &id, UNIX_EPOCH).await? {
                let now = std::time::SystemTime::now();
                self.store(tenant).blobs.remove(&id, now).await?;
            }
        }
        Ok(())
    }
}

fn away(error: crate::BucketError) -> Error {
    Error::Unavailable(error.into())
}
