//! A tenant's quotas at this replica.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use photic_store::Tenant;

use super::flight::Flight;
use super::link::Link;
use super::minute::Minute;
use super::stored::Stored;
use super::{Kind, Limits, lock};

/// How long limits count without asking again.
const REMEMBERED: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Account {
    pub(super) tenant: Tenant,
    pub(super) requests: Minute,
    pub(super) pixels: Minute,
    pub(super) flight: Flight,
    pub(super) stored: Stored,
    limits: Mutex<Option<Heard>>,
    asking: tokio::sync::Mutex<()>,
}

/// What the database said, and until when it counts.
#[derive(Clone, Copy, Debug)]
struct Heard {
    limits: Limits,
    until: Instant,
}

impl Account {
    pub(super) fn new(tenant: Tenant) -> Self {
        Self {
            requests: Minute::new(tenant.clone(), Kind::Requests),
            pixels: Minute::new(tenant.clone(), Kind::Megapixels),
            tenant,
            flight: Flight::default(),
            stored: Stored::default(),
            limits: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// What the tenant is allowed. One asks from time to time; the others go by what they know.
    pub(super) async fn limits(&self, link: &Link) -> Limits {
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

    /// What it was allowed when last heard, or what everybody is.
    pub(super) fn last_limits(&self, link: &Link) -> Limits {
        lock(&self.limits).map_or(link.options.defaults, |heard| heard.limits)
    }

    async fn hear(&self, link: &Link) {
        if let Some(own) = link.ask(link.record().limits(&self.tenant)).await {
            let limits = own.or(link.options.defaults);
            *lock(&self.limits) = Some(Heard { limits, until: Instant::now() + REMEMBERED });
        }
    }
}
