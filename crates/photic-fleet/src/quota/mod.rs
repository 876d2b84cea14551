//! Quotas of tenants, enforced by all replicas together.
//!
//! Requests need no query: a replica takes a share of a minute from the database, spends it, and
//! takes the next. Bytes in flight are claimed in chunks, which are free again some seconds after a
//! replica is gone. Minutes follow the clock of the server.
//!
//! A request never waits for an unavailable database. Each limit then behaves as follows:
//!
//! - Requests, pixels and bytes in flight are limited to each replica's part, by the last known
//!   number of replicas.
//! - Nothing is stored, because storing needs the database.

mod account;
mod database;
mod flight;
mod limits;
mod minute;
mod stored;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use photic_store::{Error, Tenant};
use tokio::task::AbortHandle;

use crate::Postgres;
use account::QuotaAccount;
use database::QuotaDatabase;
pub use flight::InFlightGuard;
use limits::lock;
pub use limits::{Limits, QuotaExceeded, QuotaKind, QuotaOptions, QuotaRequest};

/// The quotas of all tenants, as enforced by one replica. Clones are the same replica.
#[derive(Clone, Debug)]
pub struct Quotas {
    inner: Arc<Inner>,
    /// Stops the reports with the last clone.
    _living: Arc<ReportTask>,
}

#[derive(Debug)]
struct Inner {
    link: QuotaDatabase,
    accounts: Mutex<BTreeMap<Tenant, Arc<QuotaAccount>>>,
}

#[derive(Debug)]
struct ReportTask(AbortHandle);

impl Drop for ReportTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Quotas {
    /// Creates the quotas of a new replica. Must be called on a runtime.
    pub fn new(record: Postgres, options: QuotaOptions) -> Result<Self, Error> {
        let inner = Arc::new(Inner {
            link: QuotaDatabase::new(record, options)?,
            accounts: Mutex::default(),
        });
        let living = tokio::spawn(stay_alive(inner.clone()));
        Ok(Self { inner, _living: Arc::new(ReportTask(living.abort_handle())) })
    }

    /// Admits a request and holds its bytes until the guard is dropped.
    pub async fn admit(
        &self,
        tenant: &Tenant,
        ask: QuotaRequest,
    ) -> Result<InFlightGuard, QuotaExceeded> {
        let (account, limits) = self.account(tenant).await;
        // Bytes can be returned, requests cannot.
        let guard = account.hold(&self.inner.link, ask.bytes, limits.bytes_in_flight).await?;
        account.requests.spend(&self.inner.link, ask.requests, limits.requests_per_minute).await?;
        Ok(guard)
    }

    /// Counts pixels that are about to be decoded.
    pub async fn spend_pixels(&self, tenant: &Tenant, pixels: u64) -> Result<(), QuotaExceeded> {
        let (account, limits) = self.account(tenant).await;
        let limit = limits.megapixels_per_minute.map(|limit| limit.saturating_mul(1_000_000));
        account.pixels.spend(&self.inner.link, pixels, limit).await
    }

    /// Counts bytes that are about to be stored. Fails if they exceed the limit.
    pub async fn store(&self, tenant: &Tenant, bytes: u64) -> Result<(), QuotaExceeded> {
        let (account, limits) = self.account(tenant).await;
        let Some(limit) = limits.stored_bytes else { return Ok(()) };
        account.store(&self.inner.link, bytes, limit).await
    }

    /// Returns bytes that [`Quotas::store`] counted but that were not stored.
    pub async fn give_back(&self, tenant: &Tenant, bytes: u64) {
        self.account(tenant).await.0.give_back(bytes);
    }

    /// Returns the stored bytes of a tenant, some seconds old.
    pub async fn stored(&self, tenant: &Tenant) -> Result<u64, Error> {
        self.account(tenant).await.0.stored(&self.inner.link).await
    }

    /// Returns the cached limits of a tenant, with defaults.
    pub async fn limits(&self, tenant: &Tenant) -> Limits {
        self.account(tenant).await.1
    }

    /// Returns whether the last query failed, so that every replica uses its part of the limits.
    pub fn is_alone(&self) -> bool {
        self.inner.link.is_away()
    }

    async fn account(&self, tenant: &Tenant) -> (Arc<QuotaAccount>, Limits) {
        let account = {
            let mut accounts = self.inner.accounts();
            match accounts.get(tenant) {
                Some(account) => account.clone(),
                None => accounts
                    .entry(tenant.clone())
                    .or_insert_with(|| Arc::new(QuotaAccount::new(tenant.clone())))
                    .clone(),
            }
        };
        let limits = account.limits(&self.inner.link).await;
        (account, limits)
    }
}

impl Inner {
    fn accounts(&self) -> MutexGuard<'_, BTreeMap<Tenant, Arc<QuotaAccount>>> {
        lock(&self.accounts)
    }
}

/// Reports periodically that this replica is alive, and returns unused claims.
async fn stay_alive(inner: Arc<Inner>) {
    let mut ticks = tokio::time::interval(inner.link.rhythm());
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if inner.link.stay().await.is_none() {
            continue;
        }
        let accounts: Vec<Arc<QuotaAccount>> = inner.accounts().values().cloned().collect();
        for account in accounts {
            account.settle(&inner.link).await;
        }
    }
}
