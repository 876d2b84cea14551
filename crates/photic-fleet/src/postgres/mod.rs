//! The record on `PostgreSQL`, shared by many replicas, synced at every commit.
//!
//! This module owns the connections, the tenants and the day. The statements are in the other
//! files, one topic each. The day is taken from the server's clock, so that all replicas agree on
//! it, and nothing a session refers to is stored on a day before the session began.

/// The server's clock in a statement, in milliseconds since 1970.
macro_rules! now {
    () => {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}
/// The server's day in a statement, counted from 1970, plus an offset.
macro_rules! today {
    ($ahead:literal) => {
        concat!("((now() AT TIME ZONE 'UTC')::date - date '1970-01-01' + ", $ahead, "::integer)")
    };
}

mod append;
mod audit;
mod collect;
mod days;
mod derivatives;
mod documents;
mod forget;
mod format;
mod handles;
mod history;
mod keys;
mod locations;
mod media;
mod outcomes;
mod quota;
mod read;
mod server;
mod sessions;
mod uploads;
mod work;
mod write_cache;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use photic_store::{Error, Secret, SessionId, Tenant};
use sqlx::Transaction;
use sqlx::pool::PoolConnection;

pub use derivatives::Derivatives;
pub use documents::{Document, Documents};
pub(crate) use forget::ClosedTenant;
pub use locations::BlobLocation;
pub(crate) use quota::{GrantedShare, ShareRequest};
use server::{Answer, Server, failed};
use write_cache::WriteCache;

use crate::packs::Packs;

/// Options of the record's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Largest number of connections of this replica.
    pub connections: u32,
    /// Time of silence on all connections after which the server counts as unavailable. A server
    /// that answers other requests is only busy.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16, patience: Duration::from_secs(1) }
    }
}

/// The record. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Postgres {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    /// The last day that is known to have partitions.
    opened: AtomicI32,
    /// Days to add to the server's clock, in tests.
    ahead: AtomicI32,
    /// Cached tenants with the end of their lifetime, because another replica may forget a tenant.
    /// Tenants are created by operators, so they are few.
    tenants: Mutex<BTreeMap<Tenant, (Owner, Instant)>>,
    /// Blobs that this replica is about to store.
    packs: Packs,
    /// Cache of what this replica wrote.
    known: WriteCache,
}

/// A tenant in the database.
#[derive(Clone, Debug)]
struct Owner {
    id: i64,
    secret: Secret,
}

/// Number of days whose partitions are created ahead, so that none is missing at midnight.
const DAYS_AHEAD: i32 = 3;

/// Lifetime of a cached tenant.
const TENANT_LIFETIME: Duration = Duration::from_secs(20);

impl Postgres {
    /// Creates a record without connecting. It connects when it is used, and the first replica
    /// creates or migrates the tables. While the server is unavailable, everything fails with
    /// [`Error::Unavailable`].
    ///
    /// The URL has the form of `PostgreSQL`, such as `postgres://user@host/database`; missing parts
    /// come from the usual environment variables of its clients. Other URLs are an error. Must be
    /// called on the runtime that uses the record.
    pub fn lazy(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let inner = Inner {
            server: Server::lazy(address, options)?,
            opened: AtomicI32::new(0),
            ahead: AtomicI32::new(0),
            tenants: Mutex::default(),
            packs: Packs::default(),
            known: WriteCache::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Creates a record and connects. Fails if the server is unavailable.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let record = Self::lazy(address, options)?;
        record.today().await?;
        Ok(record)
    }

    /// Returns whether the server answers within a moment.
    pub async fn is_there(&self) -> bool {
        self.inner.server.is_there().await
    }

    /// Returns the day by the server's clock, counted from 1970, and makes sure that its partitions
    /// exist.
    pub async fn today(&self) -> Result<i32, Error> {
        let day: i32 = sqlx::query_scalar(concat!("SELECT ", today!("$1")))
            .bind(self.ahead())
            .fetch_one(&mut *self.connection().await?)
            .answer()
            .await?;
        self.opened(day).await?;
        Ok(day)
    }

    /// Makes sure that a day has partitions.
    async fn opened(&self, day: i32) -> Result<(), Error> {
        if self.inner.opened.load(Ordering::Relaxed) < day {
            self.open_days(day, day + DAYS_AHEAD).await?;
            self.inner.opened.fetch_max(day, Ordering::Relaxed);
        }
        Ok(())
    }

    fn ahead(&self) -> i32 {
        self.inner.ahead.load(Ordering::Relaxed)
    }

    /// Adds days to the server's clock, for tests over several days.
    #[doc(hidden)]
    pub fn pretend_later(&self, days: i32) {
        self.inner.ahead.fetch_add(days, Ordering::Relaxed);
    }

    async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Error> {
        // Boxed, because the future is large and part of every query.
        Box::pin(self.inner.server.connection()).await
    }

    async fn begin_transaction(&self) -> Result<PgTransaction, Error> {
        let server = &self.inner.server;
        Box::pin(async { server.unless_silent(server.pool().await?.begin()).await }).await
    }

    /// Returns a tenant. Creates it with a new secret if it does not exist.
    async fn owner(&self, tenant: &Tenant) -> Result<Owner, Error> {
        if let Some(owner) = self.find_owner(tenant).await? {
            return Ok(owner);
        }
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
        // A name that is being forgotten cannot be used until that is finished.
        sqlx::query(
            "INSERT INTO tenant (name, secret) SELECT $1, $2
             WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE name = $1) ON CONFLICT DO NOTHING",
        )
        .bind(tenant.as_str())
        .bind(secret)
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        // Another replica may have been faster.
        let found = self.find_owner(tenant).await?;
        found.ok_or_else(|| Error::Refused("the tenant is being forgotten".into()))
    }

    /// Returns a tenant if it exists.
    async fn find_owner(&self, tenant: &Tenant) -> Result<Option<Owner>, Error> {
        let now = Instant::now();
        if let Some((owner, _)) = self.tenants().get(tenant).filter(|(_, until)| now < *until) {
            return Ok(Some(owner.clone()));
        }
        let found: Option<(i64, [u8; 32])> =
            sqlx::query_as("SELECT id, secret FROM tenant WHERE name = $1")
                .bind(tenant.as_str())
                .fetch_optional(&mut *self.connection().await?)
                .answer()
                .await?;
        let Some((id, secret)) = found else { return Ok(None) };
        let owner = Owner { id, secret: secret.into() };
        self.tenants().insert(tenant.clone(), (owner.clone(), now + TENANT_LIFETIME));
        Ok(Some(owner))
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<Tenant, (Owner, Instant)>> {
        self.inner.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn packs(&self) -> &Packs {
        &self.inner.packs
    }

    /// Returns the number of a tenant, which is its name in the bucket.
    pub(crate) async fn owner_id(&self, tenant: &Tenant) -> Result<i64, Error> {
        Ok(self.owner(tenant).await?.id)
    }
}

/// A transaction.
type PgTransaction = Transaction<'static, sqlx::Postgres>;

/// First lock number of tenants.
const TENANTS: i64 = 1 << 60;

/// Number of bits of a session's number below its day.
const BELOW_DAY: u32 = 40;

/// Returns the range of session numbers of an identifier's day.
fn numbers(id: &SessionId) -> (i64, i64) {
    let day = i64::from(id.day());
    (day << BELOW_DAY, (day + 1) << BELOW_DAY)
}

/// Returns the day of a session number.
const fn day_of(session: i64) -> i32 {
    (session >> BELOW_DAY) as i32
}

/// Takes the shared lock of a tenant: waits while data of the tenant is being deleted.
async fn beside_others(transaction: &mut PgTransaction, owner: &Owner) -> Result<(), Error> {
    let lock = "SELECT pg_advisory_xact_lock_shared($1)";
    sqlx::query(lock).bind(TENANTS + owner.id).execute(&mut **transaction).await.map_err(failed)?;
    Ok(())
}

/// Takes the exclusive lock of a tenant: waits while data of the tenant is being written or
/// deleted.
async fn alone(transaction: &mut PgTransaction, owner: &Owner) -> Result<(), Error> {
    let lock = "SELECT pg_advisory_xact_lock($1)";
    sqlx::query(lock).bind(TENANTS + owner.id).execute(&mut **transaction).await.map_err(failed)?;
    Ok(())
}

/// Returns milliseconds since 1970.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
