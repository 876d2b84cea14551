//! Forgets a tenant: deletes everything except the audit log.
//!
//! First its name and keys are deleted, so that no new request enters. Replicas cache both for some
//! seconds, and requests may be running. So the rest is deleted later, by the tenant's number,
//! which is never reused. A new tenant with the old name is a different one: it has another secret,
//! and the old handles are invalid.

use std::time::Duration;

use photic_store::{Error, Tenant};
use serde::Serialize;

use crate::audit::{Audit, AuditAction, Entry, Subject};
use crate::blobs::{KEPT_DAY, folder};
use crate::postgres::ClosedTenant;
use crate::{BucketError, Fleet, lessons};

/// Time between deleting the name and the rest: longer than replicas cache a key or name, plus the
/// time a running request needs to write.
const CACHE_LIFETIME: Duration = Duration::from_secs(45);

/// Result of forgetting a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Number of deleted rows.
    pub rows: u64,
    /// Number of deleted objects.
    pub objects: u64,
    /// Remaining data. If there is any, the tenant is not forgotten yet, and the call has to be
    /// repeated.
    pub left: RemainingData,
}

/// Remaining data of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemainingData {
    /// Tables with remaining rows, and their number.
    pub rows: Vec<(String, i64)>,
    /// Remaining objects of the bucket.
    pub objects: Vec<String>,
    /// Lessons that gateways learned from its requests.
    pub lessons: usize,
}

impl RemainingData {
    /// Returns whether nothing remains.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.objects.is_empty() && self.lessons == 0
    }
}

impl Fleet {
    /// Forgets a tenant, which takes most of a minute. If it is interrupted or a server is
    /// unavailable, repeating the call continues. The audit records it, and keeps its earlier rows
    /// until their days end.
    pub async fn forget_tenant(&self, tenant: &Tenant) -> Result<Forgotten, Error> {
        self.forget_tenant_after(tenant, CACHE_LIFETIME).await
    }

    /// Forgets a tenant with another delay, for tests without running requests.
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
                what: AuditAction::Forget,
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

    /// Finds the remaining data of a tenant whose name is deleted.
    async fn left_of(
        &self,
        tenant: &Tenant,
        closed: &[ClosedTenant],
    ) -> Result<RemainingData, Error> {
        let lessons = lessons::taught_to(&self.record, tenant).await?;
        let mut left = RemainingData { lessons, ..RemainingData::default() };
        for closed in closed {
            left.rows.extend(self.record.rows_left(closed).await?);
            left.objects.extend(self.objects_of(closed).await.map_err(away)?);
        }
        Ok(left)
    }

    /// Lists every object of a tenant.
    async fn objects_of(&self, closed: &ClosedTenant) -> Result<Vec<String>, BucketError> {
        let mut objects = self.uploaded(closed.id).await?;
        for folder in [format!("t/{}", closed.id), folder(closed.id, KEPT_DAY)] {
            objects.extend(self.bucket.list(&folder).await?);
        }
        Ok(objects)
    }
}

fn away(error: BucketError) -> Error {
    Error::Unavailable(error.into())
}
