//! The record on `PostgreSQL`: many replicas, every commit on the server's disk.
//!
//! Statements live in the files of this folder, one subject each; this one owns the pool, the
//! tenants and the day. The day is the server's: replicas whose clocks differ agree on it, so that
//! nothing a session refers to is ever stored on a day before the one it began on.

mod append;
mod collect;
mod days;
mod derivatives;
mod documents;
mod format;
mod handles;
mod keys;
mod places;
mod read;
mod sessions;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic_store::{Error, Secret, SessionId, Tenant};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgPool, Postgres as Server, Transaction};

pub use derivatives::Derivatives;
pub use documents::{Document, Documents};
pub use places::Place;

/// How the record's server is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Most connections of this replica.
    pub connections: u32,
    /// How long a request waits for one of them, and for the server.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16, patience: Duration::from_secs(5) }
    }
}

/// The record; clones share their connections.
#[derive(Clone, Debug)]
pub struct Postgres {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    /// The last day that has partitions, as far as this replica knows.
    opened: AtomicI32,
    /// Days by which the server's clock is taken to be ahead, in tests.
    ahead: AtomicI32,
    /// Whom this replica has seen. Tenants come from the operator's keys, so they are few.
    tenants: Mutex<BTreeMap<Tenant, Owner>>,
}

/// A tenant as the server knows it.
#[derive(Clone, Debug)]
struct Owner {
    id: i64,
    secret: Secret,
}

/// Partitions that are made ahead of the day, so that none is missing at midnight.
const DAYS_AHEAD: i32 = 3;

impl Postgres {
    /// Connects, and makes the tables or brings them to this version's format.
    ///
    /// The address is one of `PostgreSQL`'s own, such as `postgres://user@host/database`; what it
    /// leaves out is taken from the variables that all of its clients read.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let connect: PgConnectOptions = address.parse().map_err(failed)?;
        let pool = PgPoolOptions::new()
            .max_connections(options.connections)
            .acquire_timeout(options.patience)
            .connect_with(connect.application_name("photic"))
            .await
            .map_err(failed)?;
        format::make(&pool).await?;
        let inner = Inner {
            pool,
            opened: AtomicI32::new(0),
            ahead: AtomicI32::new(0),
            tenants: Mutex::default(),
        };
        let record = Self { inner: Arc::new(inner) };
        record.today().await?;
        Ok(record)
    }

    /// Whether the server answers.
    pub async fn ping(&self) -> Result<(), Error> {
        sqlx::query("SELECT 1").execute(self.pool()).await.map_err(failed)?;
        Ok(())
    }

    /// The day by the server's clock, counted from 1970; its partitions are there.
    pub async fn today(&self) -> Result<i32, Error> {
        let day: i32 =
            sqlx::query_scalar("SELECT (now() AT TIME ZONE 'UTC')::date - date '1970-01-01'")
                .fetch_one(self.pool())
                .await
                .map_err(failed)?;
        let day = day + self.inner.ahead.load(Ordering::Relaxed);
        if self.inner.opened.load(Ordering::Relaxed) < day {
            self.open_days(day, day + DAYS_AHEAD).await?;
            self.inner.opened.store(day, Ordering::Relaxed);
        }
        Ok(day)
    }

    /// Takes the server's clock to be some days ahead: for tests of what happens over days.
    #[doc(hidden)]
    pub fn pretend_later(&self, days: i32) {
        self.inner.ahead.fetch_add(days, Ordering::Relaxed);
    }

    fn pool(&self) -> &PgPool {
        &self.inner.pool
    }

    async fn begin_transaction(&self) -> Result<Writing, Error> {
        self.pool().begin().await.map_err(failed)
    }

    /// A tenant, made with a new secret if it is new.
    async fn owner(&self, tenant: &Tenant) -> Result<Owner, Error> {
        if let Some(owner) = self.find_owner(tenant).await? {
            return Ok(owner);
        }
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
        sqlx::query("INSERT INTO tenant (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(tenant.as_str())
            .bind(secret)
            .execute(self.pool())
            .await
            .map_err(failed)?;
        // Somebody else may have been faster.
        self.find_owner(tenant).await?.ok_or(Error::Damaged("a tenant is gone"))
    }

    /// A tenant, if it was ever seen.
    async fn find_owner(&self, tenant: &Tenant) -> Result<Option<Owner>, Error> {
        if let Some(owner) = self.tenants().get(tenant) {
            return Ok(Some(owner.clone()));
        }
        let found: Option<(i64, [u8; 32])> =
            sqlx::query_as("SELECT id, secret FROM tenant WHERE name = $1")
                .bind(tenant.as_str())
                .fetch_optional(self.pool())
                .await
                .map_err(failed)?;
        let Some((id, secret)) = found else { return Ok(None) };
        let owner = Owner { id, secret: secret.into() };
        self.tenants().insert(tenant.clone(), owner.clone());
        Ok(Some(owner))
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<Tenant, Owner>> {
        self.inner.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the server names a tenant, which is what it is called in a bucket.
    pub(crate) async fn owner_id(&self, tenant: &Tenant) -> Result<i64, Error> {
        Ok(self.owner(tenant).await?.id)
    }
}

/// Something that is done whole or not at all.
type Writing = Transaction<'static, Server>;

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

/// What an error of the server's client means to us.
fn failed(error: sqlx::Error) -> Error {
    if is_away(&error) { Error::Away(error.into()) } else { Error::Refused(error.into()) }
}

fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Connections that break, resources that are used up, operators who intervene, and a disk
        // that fails: classes of PostgreSQL's own list.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "53", "57P", "58"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}

/// Milliseconds since 1970.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The server's clock in a statement, in milliseconds since 1970.
macro_rules! now {
    () => {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}
use now;
