//! The quotas of a tenant at this replica.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use photic_store::Tenant;

use super::database::QuotaDatabase;
use super::flight::InFlight;
use super::limits::{Limits, QuotaKind, lock};
use super::minute::MinuteQuota;
use super::stored::StoredSum;

/// Lifetime of cached limits.
const LIMITS_LIFETIME: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct QuotaAccount {
    pub(super) tenant: Tenant,
    pub(super) requests: MinuteQuota,
    pub(super) pixels: MinuteQuota,
    pub(super) flight: InFlight,
    pub(super) stored: StoredSum,
    limits: Mutex<Option<CachedLimits>>,
    asking: tokio::sync::Mutex<()>,
}

/// Limits from the database, with the end of their lifetime.
#[derive(Clone, Copy, Debug)]
struct CachedLimits {
    limits: Limits,
    until: Instant,
}

impl QuotaAccount {
    pub(super) fn new(tenant: Tenant) -> Self {
        Self {
            requests: MinuteQuota::new(tenant.clone(), QuotaKind::Requests),
            pixels: MinuteQuota::new(tenant.clone(), QuotaKind::Megapixels),
            tenant,
            flight: InFlight::default(),
            stored: StoredSum::default(),
            limits: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the limits of the tenant. One caller refreshes them now and then; others use the
    /// cached ones.
    pub(super) async fn limits(&self, link: &QuotaDatabase) -> Limits {
        let heard = *lock(&self.limits);
        if let Some(heard) = heard {
            if Instant::now() < heard.until {
                return heard.limits;
            }
            if let Ok(_turn) = self.asking.try_lock() {
                self.hear(link).await;
            }
        } else if let Some(_turn) = link.in_time(self.asking.lock()).await
            && lock(&self.limits).is_none()
        {
            self.hear(link).await;
        }
        self.last_limits(link)
    }

    /// Returns the cached limits, or the defaults.
    pub(super) fn last_limits(&self, link: &QuotaDatabase) -> Limits {
        lock(&self.limits).map_or(link.options.defaults, |heard| heard.limits)
    }

    async fn hear(&self, link: &QuotaDatabase) {
        if let Some(own) = link.ask(link.record().limits(&self.tenant)).await {
            let limits = own.or(link.options.defaults);
            *lock(&self.limits) =
                Some(CachedLimits { limits, until: Instant::now() + LIMITS_LIFETIME });
        }
    }
}
