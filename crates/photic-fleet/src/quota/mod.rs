//! What tenants are allowed, held by all replicas together.
//!
//! No request costs a statement: a replica takes a share of a minute from the database, spends it,
//! and takes the next; bytes in flight it claims in chunks, which are free again some seconds after
//! it is gone. Minutes are the server's.
//!
//! It never makes a request wait for a database that is away. What happens then is said for every
//! limit: requests, pixels and bytes in flight are a courtesy between tenants, so every replica goes
//! on with its part of the limit, by the number of replicas last seen; nothing is stored, because
//! nothing can be.

mod account;
mod flight;
mod link;
mod minute;
mod stored;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use photic_store::{Error, Tenant};
use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;

use crate::Postgres;
use account::Account;
pub use flight::Guard;
use link::Link;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Requests in a minute.
    Requests,
    /// Bytes of requests that are being worked on.
    BytesInFlight,
    /// Millions of pixels that are decoded in a minute.
    Megapixels,
    /// Bytes that are kept.
    StoredBytes,
}

impl Kind {
    /// The name, in messages and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::BytesInFlight => "bytes_in_flight",
            Self::Megapixels => "megapixels",
            Self::StoredBytes => "stored_bytes",
        }
    }
}

/// What a tenant is allowed; `None` is no limit, or, of one tenant, the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests in a minute of the clock.
    pub requests_per_minute: Option<u64>,
    /// Bytes of requests at a time.
    pub bytes_in_flight: Option<u64>,
    /// Millions of pixels in a minute of the clock.
    pub megapixels_per_minute: Option<u64>,
    /// Bytes in the bucket. What other replicas stored in the last seconds may not be counted yet.
    pub stored_bytes: Option<u64>,
}

impl Limits {
    /// These, and the defaults where they say nothing.
    #[must_use]
    pub fn or(self, defaults: Self) -> Self {
        Self {
            requests_per_minute: self.requests_per_minute.or(defaults.requests_per_minute),
            bytes_in_flight: self.bytes_in_flight.or(defaults.bytes_in_flight),
            megapixels_per_minute: self.megapixels_per_minute.or(defaults.megapixels_per_minute),
            stored_bytes: self.stored_bytes.or(defaults.stored_bytes),
        }
    }
}

/// How quotas are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaOptions {
    /// What tenants are allowed of whom nothing else is said.
    pub defaults: Limits,
    /// How many replicas there are, until the database has said so.
    pub replicas: u32,
    /// How long a request waits for the database before it goes on without.
    pub patience: Duration,
    /// How long after its last sign a replica is taken to be gone.
    pub lease: Duration,
}

impl Default for QuotaOptions {
    fn default() -> Self {
        Self {
            defaults: Limits::default(),
            replicas: 1,
            patience: Duration::from_millis(500),
            lease: Duration::from_secs(15),
        }
    }
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// How many requests it counts as.
    pub requests: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A tenant has had what it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tenant's limit of {} is reached", what.as_str())]
pub struct Over {
    /// Of what.
    pub what: Kind,
    /// When it may be worth another try; `None` if it is more than is ever allowed.
    pub retry_after: Option<Duration>,
}

/// The quotas of all tenants, as one replica holds them. Clones are the same replica.
#[derive(Clone, Debug)]
pub struct Quotas {
    inner: Arc<Inner>,
    /// Ends the signs of life with the last clone.
    _living: Arc<Living>,
}

#[derive(Debug)]
struct Inner {
    link: Link,
    accounts: Mutex<BTreeMap<Tenant, Arc<Account>>>,
}

#[derive(Debug)]
struct Living(AbortHandle);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Quotas {
    /// Holds quotas as a replica of its own. It has to be called where tasks can be spawned.
    pub fn new(record: Postgres, options: QuotaOptions) -> Result<Self, Error> {
        let inner =
            Arc::new(Inner { link: Link::new(record, options)?, accounts: Mutex::default() });
        let living = tokio::spawn(stay_alive(inner.clone()));
        Ok(Self { inner, _living: Arc::new(Living(living.abort_handle())) })
    }

    /// Lets a request in, and holds its bytes until the guard is dropped.
    pub async fn admit(&self, tenant: &Tenant, ask: Ask) -> Result<Guard, Over> {
        let (account, limits) = self.account(tenant).await;
        // Bytes can be given back, requests cannot.
        let guard = account.hold(&self.inner.link, ask.bytes, limits.bytes_in_flight).await?;
        account.requests.spend(&self.inner.link, ask.requests, limits.requests_per_minute).await?;
        Ok(guard)
    }

    /// Counts pixels that are about to be decoded.
    pub async fn spend_pixels(&self, tenant: &Tenant, pixels: u64) -> Result<(), Over> {
        let (account, limits) = self.account(tenant).await;
        let limit = limits.megapixels_per_minute.map(|limit| limit.saturating_mul(1_000_000));
        account.pixels.spend(&self.inner.link, pixels, limit).await
    }

    /// Whether so many bytes more may be stored; they count as stored from now on.
    pub async fn store(&self, tenant: &Tenant, bytes: u64) -> Result<(), Over> {
        let (account, limits) = self.account(tenant).await;
        let Some(limit) = limits.stored_bytes else { return Ok(()) };
        account.store(&self.inner.link, bytes, limit).await
    }

    /// Gives back bytes that [`Quotas::store`] counted and that are not stored after all.
    pub async fn give_back(&self, tenant: &Tenant, bytes: u64) {
        self.account(tenant).await.0.give_back(bytes);
    }

    /// How many bytes of a tenant are stored, as of some seconds ago.
    pub async fn stored(&self, tenant: &Tenant) -> Result<u64, Error> {
        self.account(tenant).await.0.stored(&self.inner.link).await
    }

    /// What a tenant is allowed, with the defaults; as last heard.
    pub async fn limits(&self, tenant: &Tenant) -> Limits {
        self.account(tenant).await.1
    }

    /// Whether the database did not answer when it was last asked, so that every replica goes on
    /// with its part of the limits.
    pub fn is_alone(&self) -> bool {
        self.inner.link.is_away()
    }

    async fn account(&self, tenant: &Tenant) -> (Arc<Account>, Limits) {
        let account = {
            let mut accounts = self.inner.accounts();
            match accounts.get(tenant) {
                Some(account) => account.clone(),
                None => accounts
                    .entry(tenant.clone())
                    .or_insert_with(|| Arc::new(Account::new(tenant.clone())))
                    .clone(),
            }
        };
        let limits = account.limits(&self.inner.link).await;
        (account, limits)
    }
}

impl Inner {
    fn accounts(&self) -> MutexGuard<'_, BTreeMap<Tenant, Arc<Account>>> {
        lock(&self.accounts)
    }
}

/// Says again and again that this replica is there, and gives back what it has not used since the
/// last time.
async fn stay_alive(inner: Arc<Inner>) {
    let mut ticks = tokio::time::interval(inner.link.rhythm());
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if inner.link.stay().await.is_none() {
            continue;
        }
        let accounts: Vec<Arc<Account>> = inner.accounts().values().cloned().collect();
        for account in accounts {
            account.settle(&inner.link).await;
        }
    }
}

/// Nothing that is done under these locks can be left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
