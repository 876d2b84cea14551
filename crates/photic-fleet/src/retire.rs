//! Forgetting by days: tables are dropped, folders are emptied, and nothing is counted.
//!
//! A session lies in the day it began on, and a blob that it refers to in that day or a later one,
//! because it was stored after. So when all days before one go at once, no session that stays
//! misses anything. A conversation that is still going on is simply begun anew by its next request,
//! which holds all of it. Blobs behind pinned handles, and behind references that
//! hold for longer, are copied out of the way first.

use std::time::{Duration, UNIX_EPOCH};

use photic_store::{BlobError, Blobs as _, Error, Record as _, WorkStore as _};
use serde::Serialize;

use crate::Fleet;
use crate::blobs::folder;

/// What was forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retired {
    /// Days that are gone, counted from 1970.
    pub days: Vec<i32>,
    /// Objects that were removed from the bucket.
    pub objects: usize,
    /// Blobs that were kept because a pinned handle, or a reference that holds, leads to them.
    pub kept: usize,
}

impl Fleet {
    /// Forgets everything of days that are more than so many back; today and the days between stay.
    /// What a replica that was killed left undone is done by the next.
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

    /// Copies blobs that are wanted for longer out of days that are about to go.
    async fn rescue(&self, before: i32) -> Result<usize, Error> {
        let mut kept = 0;
        for (tenant, id) in self.record.wanted_before(before).await? {
            let blobs = self.store(tenant).blobs;
            match blobs.get(&id).await {
                Ok(bytes) => {
                    blobs.keep(id, bytes.into()).await?;
                    kept += 1;
                }
                // What is lost cannot be kept; that is no reason to keep all the rest.
                Err(BlobError::Absent(_) | BlobError::Damaged(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(kept)
    }

    /// Removes references that ended, and copies that nothing wants any more.
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
