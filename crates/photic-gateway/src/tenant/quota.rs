//! Quotas of tenants.

use std::any::Any;

use photic_store::Tenant;

use crate::future::BoxFuture;
use crate::http::OverQuota;

/// The part of a quota that a request holds until it is dropped.
pub(crate) type QuotaGuard = Box<dyn Any + Send + Sync>;

/// The quotas of all tenants.
pub(crate) trait Quota: std::fmt::Debug + Send + Sync {
    /// Counts a request and holds its bytes.
    fn admit<'a>(
        &'a self,
        tenant: &'a Tenant,
        bytes: u64,
    ) -> BoxFuture<'a, Result<QuotaGuard, OverQuota>>;

    /// Counts pixels that are decoded.
    fn spend_pixels<'a>(
        &'a self,
        tenant: &'a Tenant,
        pixels: u64,
    ) -> BoxFuture<'a, Result<(), OverQuota>>;

    /// Counts bytes that are stored.
    fn store<'a>(&'a self, tenant: &'a Tenant, bytes: u64) -> BoxFuture<'a, Result<(), OverQuota>>;

    /// Returns bytes that were counted as stored and are not.
    fn release<'a>(&'a self, tenant: &'a Tenant, bytes: u64) -> BoxFuture<'a, ()>;
}
