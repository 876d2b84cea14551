//! The quotas of a fleet's tenants.

use photic_fleet::{QuotaExceeded, QuotaRequest, Quotas};
use photic_store::Tenant;

use crate::future::BoxFuture;
use crate::http::OverQuota;
use crate::tenant::{Quota, QuotaGuard};

/// The quotas of a fleet's tenants, counted by all gateways together.
#[derive(Debug)]
pub(super) struct FleetQuotas(pub(super) Quotas);

impl Quota for FleetQuotas {
    fn admit<'a>(
        &'a self,
        tenant: &'a Tenant,
        bytes: u64,
    ) -> BoxFuture<'a, Result<QuotaGuard, OverQuota>> {
        Box::pin(async move {
            let guard =
                self.0.admit(tenant, QuotaRequest { requests: 1, bytes }).await.map_err(over)?;
            Ok(Box::new(guard) as QuotaGuard)
        })
    }

    fn spend_pixels<'a>(
        &'a self,
        tenant: &'a Tenant,
        pixels: u64,
    ) -> BoxFuture<'a, Result<(), OverQuota>> {
        Box::pin(async move { self.0.spend_pixels(tenant, pixels).await.map_err(over) })
    }

    fn store<'a>(&'a self, tenant: &'a Tenant, bytes: u64) -> BoxFuture<'a, Result<(), OverQuota>> {
        Box::pin(async move { self.0.store(tenant, bytes).await.map_err(over) })
    }

    fn release<'a>(&'a self, tenant: &'a Tenant, bytes: u64) -> BoxFuture<'a, ()> {
        Box::pin(self.0.give_back(tenant, bytes))
    }
}

fn over(over: QuotaExceeded) -> OverQuota {
    OverQuota { quota: over.what.as_str(), retry_after: over.retry_after }
}
