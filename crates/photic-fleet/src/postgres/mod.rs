//! The record on `PostgreSQL`: many replicas, every commit on the server's disk.
//!
//! Statements live in the files of this folder, one subject each; this one owns the pool, the
//! tenants and the day. The day is the server's: replicas whose clocks differ agree on it, so that
//! nothing a session refers to is ever stored on a day before the one it began on.

/// The server's clock in a statement, in milliseconds since 1970.
macro_rules! now {
    () => {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}
/// The server's day in a statement, counted from 1970, and so many ahead.
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
mod keys;
mod known;
mod media;
mod places;
mod quota;
mod read;
mod server;
mod sessions;
mod uploads;
mod work;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use photic_store::{Error, Secret, SessionId, Tenant};
use sqlx::Transaction;
use sqlx::pool::PoolConnection;

pub use derivatives::Derivatives;
pub use documents::{Document, Documents};
pub(crate) use forget::Closed;
use known::Known;
pub use places::Place;
pub(crate) use quota::{Taken, Wish};
use server::{Answer, Server, failed};

use crate::packs::Packs;

/// How the record's server is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Most connections of this replica.
    pub connections: u32,
    /// How long the server may be silent, to all of them, before whoever waits is told that it is
    /// away. While it answers others it is only busy.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16, patience: Duration::from_secs(1) }
    }
}

/// The record; clones share their connections.
#[derive(Clone, Debug)]
pub struct Postgres {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    /// The last day that has partitions, as far as this replica knows.
    opened: AtomicI32,
    /// Days by which the server's clock is taken to be ahead, in tests.
    ahead: AtomicI32,
    /// Whom this replica has seen, and until when that counts: a tenant may be forgotten by another
    /// replica, and come again. Tenants come from the operator's keys, so they are few.
    tenants: Mutex<BTreeMap<Tenant, (Owner, Instant)>>,
    /// Blobs that this replica is about to store.
    packs: Packs,
    /// What this replica wrote last.
    known: Known,
}

/// A tenant as the server knows it.
#[derive(Clone, Debug)]
struct Owner {
    id: i64,
    secret: Secret,
}

/// Partitions that are made ahead of the day, so that none is missing at midnight.
const DAYS_AHEAD: i32 = 3;

/// How long a tenant is remembered without asking.
const REMEMBERED: Duration = Duration::from_secs(20);

impl Postgres {
    /// A record whose server may be away: it is connected to when something is asked of it, and
    /// whichever replica reaches it first makes the tables, or brings them to this version's format.
    /// Until then, and whenever it is away again, everything fails with [`Error::Unavailable`].
    ///
    /// The address is one of `PostgreSQL`'s own, such as `postgres://user@host/database`; what it
    /// leaves out is taken from the variables that all of its clients read. Any other is an error.
    /// To be called on the runtime that the record is used on.
    pub fn lazy(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let inner = Inner {
            server: Server::lazy(address, options)?,
            opened: AtomicI32::new(0),
            ahead: AtomicI32::new(0),
            tenants: Mutex::default(),
            packs: Packs::default(),
            known: Known::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The same for a server that is up: if it is not, that is said now.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let record = Self::lazy(address, options)?;
        record.today().await?;
        Ok(record)
    }

    /// Whether the server answers, said in a moment.
    pub async fn is_there(&self) -> bool {
        self.inner.server.is_there().await
    }

    /// The day by the server's clock, counted from 1970; its partitions are there.
    pub async fn today(&self) -> Result<i32, Error> {
        let day: i32 = sqlx::query_scalar(concat!("SELECT ", today!("$1")))
            .bind(self.ahead())
            .fetch_one(&mut *self.connection().await?)
            .answer()
            .await?;
        self.opened(day).await?;
        Ok(day)
    }

    /// Sees to it that a day has partitions, and that it is known to be the latest.
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

    /// Takes the server's clock to be some days ahead: for tests of what happens over days.
    #[doc(hidden)]
    pub fn pretend_later(&self, days: i32) {
        self.inner.ahead.fetch_add(days, Ordering::Relaxed);
    }

    async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Error> {
        // Large, and in the midst of everything that is asked.
        Box::pin(self.inner.server.connection()).await
    }

    async fn begin_transaction(&self) -> Result<Writing, Error> {
        let server = &self.inner.server;
        Box::pin(async { server.unless_silent(server.pool().await?.begin()).await }).await
    }

    /// A tenant, made with a new secret if it is new.
    async fn owner(&self, tenant: &Tenant) -> Result<Owner, Error> {
        if let Some(owner) = self.find_owner(tenant).await? {
            return Ok(owner);
        }
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
        // A name that is being forgotten is nobody's until that is done.
        sqlx::query(
            "INSERT INTO tenant (name, secret) SELECT $1, $2
             WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE name = $1) ON CONFLICT DO NOTHING",
        )
        .bind(tenant.as_str())
        .bind(secret)
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        // Somebody else may have been faster.
        let found = self.find_owner(tenant).await?;
        found.ok_or_else(|| Error::Refused("the tenant is being forgotten".into()))
    }

    /// A tenant, if it was ever seen.
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
        self.tenants().insert(tenant.clone(), (owner.clone(), now + REMEMBERED));
        Ok(Some(owner))
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<Tenant, (Owner, Instant)>> {
        self.inner.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn packs(&self) -> &Packs {
        &self.inner.packs
    }

    /// How the server names a tenant, which is what it is called in a bucket.
    pub(crate) async fn owner_id(&self, tenant: &Tenant) -> Result<i64, Error> {
        Ok(self.owner(tenant).await?.id)
    }
}

/// Something that is done whole or not at all.
type Writing = Transaction<'static, sqlx::Postgres>;

/// Where the locks of tenants begin.
const TENANTS: i64 = 1 << 60;

/// Bits of a session's number below its day.
const BELOW_DAY: u32 = 40;

/// The numbers that sessions of a name's day have.
fn numbers(id: &SessionId) -> (i64, i64) {
    let day = i64::from(id.day());
    (day << BELOW_DAY, (day + 1) << BELOW_DAY)
}

/// The day of a session by its number.
const fn day_of(session: i64) -> i32 {
    (session >> BELOW_DAY) as i32
}

/// Waits until nobody forgets anything of a tenant, and keeps them waiting to the end.
async fn beside_others(transaction: &mut Writing, owner: &Owner) -> Result<(), Error> {
    let lock = "SELECT pg_advisory_xact_lock_shared($1)";
    sqlx::query(lock).bind(TENANTS + owner.id).execute(&mut **transaction).await.map_err(failed)?;
    Ok(())
}

/// Waits until nobody writes or forgets anything of a tenant, and keeps them waiting to the end.
async fn alone(transaction: &mut Writing, owner: &Owner) -> Result<(), Error> {
    let lock = "SELECT pg_advisory_xact_lock($1)";
    sqlx::query(lock).bind(TENANTS + owner.id).execute(&mut **transaction).await.map_err(failed)?;
    Ok(())
}

/// Milliseconds since 1970.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
