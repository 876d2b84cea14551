//! Forgetting a tenant: everything of it goes, except what the audit says was done for it.
//!
//! First its name and its keys go, so that nobody comes in any more. Replicas remember both for some
//! seconds, and requests may be under way; so the rest goes a moment later, by the tenant's number,
//! which is never given again. Whoever has the same name afterwards is somebody else: with another
//! secret, none of the old handles means anything.

use std::time::Duration;

use photic_store::{Error, Tenant};
use serde::Serialize;

use crate::audit::{Audit, Entry, Subject, What};
use crate::blobs::{KEPT, folder};
use crate::postgres::Closed;
use crate::{BucketError, Fleet, lessons};

/// How long after its name a tenant's things go: longer than any replica remembers a key or a name,
/// and a request that it lets in meanwhile takes to write something down.
const SETTLED: Duration = Duration::from_secs(45);

/// What was forgotten of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Rows of the database.
    pub rows: u64,
    /// Objects of the bucket.
    pub objects: u64,
    /// What was still found afterwards. Then the tenant is not forgotten, and the same call goes on.
    pub left: Left,
}

/// What is left of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Tables of the database with rows of it, and how many.
    pub rows: Vec<(String, i64)>,
    /// Objects of the bucket.
    pub objects: Vec<String>,
    /// Lessons that gateways were taught by its requests.
    pub lessons: usize,
}

impl Left {
    /// Whether that is nothing.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.objects.is_empty() && self.lessons == 0
    }
}

impl Fleet {
    /// Forgets a tenant; it takes the better part of a minute. If it is cut short, or something is
    /// away, the same call does the rest. The audit says that it was done, and keeps what it said
    /// before until its days are over.
    pub async fn forget_tenant(&self, tenant: &Tenant) -> Result<Forgotten, Error> {
        self.forget_tenant_after(tenant, SETTLED).await
    }

    /// The same with another time between the name and the rest: for tests, which know that nobody
    /// is under way.
    #[doc(hidden)]
    pub async fn forget_tenant_after(
        &self,
        tenant: &Tenant,
        settled: Duration,
    ) -> Result<Forgotten, Error> {
        let mut sum = Forgotten::default();
        let closed = self.record.close_tenant(tenant).await?;
        let youngest = closed.iter().map(|closed| closed.age).min().unwrap_or(settled);
        tokio::time::sleep(settled.saturating_sub(youngest)).await;
        for closed in &closed {
            sum.rows += self.record.remove_rows(closed).await?;
            for object in self.objects_of(closed).await.map_err(away)? {
                self.bucket.remove(&object).await.map_err(away)?;
                sum.objects += 1;
            }
        }
        lessons::forget_teacher(&self.record, tenant).await?;
        sum.left = self.left_of(tenant, &closed).await?;
        if !sum.left.is_empty() {
            return Ok(sum);
        }
        if !closed.is_empty() {
            let entry = Entry {
                key: None,
                what: What::Forget,
                subject: Subject::tenant(),
                decision: "forgotten",
                bytes_in: 0,
                bytes_out: 0,
            };
            Audit::new(self.record.clone()).write(tenant, vec![entry]).await?;
        }
        for closed in &closed {
            self.record.forgot(closed).await?;
        }
        Ok(sum)
    }

    /// What is found of a tenant that has no name any more.
    async fn left_of(&self, tenant: &Tenant, closed: &[Closed]) -> Result<Left, Error> {
        let lessons = lessons::taught_to(&self.record, tenant).await?;
        let mut left = Left { lessons, ..Left::default() };
        for closed in closed {
            left.rows.extend(self.record.rows_left(closed).await?);
            left.objects.extend(self.objects_of(closed).await.map_err(away)?);
        }
        Ok(left)
    }

    /// Every object of a tenant, wherever one can be.
    async fn objects_of(&self, closed: &Closed) -> Result<Vec<String>, BucketError> {
        let mut objects = self.uploaded(closed.id).await?;
        for folder in [format!("t/{}", closed.id), folder(closed.id, KEPT)] {
            objects.extend(self.bucket.list(&folder).await?);
        }
        Ok(objects)
    }
}

fn away(error: BucketError) -> Error {
    Error::Unavailable(error.into())
}
