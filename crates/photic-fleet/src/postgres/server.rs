//! Connections to the server, and the timeouts of requests to it.
//!
//! The server need not be up before it is used. The first replica that reaches it creates the
//! tables. Others fail soon, and nothing has to be restarted afterwards.
//!
//! A busy server is not unavailable: as long as it answers any connection, the others wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use photic_store::Error;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{PostgresOptions, format};

/// Longest time of a statement that a request waits for.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest time to create the tables, or to wait for another replica that does.
const MIGRATION_TIMEOUT: Duration = Duration::from_mins(1);
/// Age up to which a used connection is assumed to be alive.
const ALIVE_AGE: Duration = Duration::from_secs(1);

/// Connections to the server.
#[derive(Debug)]
pub(super) struct Server {
    pool: PgPool,
    patience: Duration,
    heard: Arc<LastAnswer>,
    /// Set when the tables exist.
    made: AtomicBool,
    /// Held while the tables are created; with the time of the last failure.
    making: Mutex<Option<Instant>>,
}

impl Server {
    pub(super) fn lazy(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let is_ours = ["postgres://", "postgresql://"].iter().any(|kind| address.starts_with(kind));
        if !is_ours {
            return Err(Error::Refused("a database URL begins with `postgres://`".into()));
        }
        let connect: PgConnectOptions = address.parse().map_err(failed)?;
        let patience = options.patience;
        let heard = Arc::new(LastAnswer { started: Instant::now(), at: AtomicU64::new(0) });
        let [connected, found, given_back] = [(); 3].map(|()| Arc::clone(&heard));
        let pool = PgPoolOptions::new()
            .max_connections(options.connections)
            .acquire_timeout(patience.max(STATEMENT_TIMEOUT))
            .after_connect(move |connection, _| {
                // Statements are always the same and find their rows by keys. Planning them for
                // each value, over the partitions of all days, took a quarter of the server's time.
                let setting = sqlx::raw_sql("SET plan_cache_mode = force_generic_plan");
                let heard = Arc::clone(&connected);
                Box::pin(async move {
                    setting.execute(connection).await?;
                    heard.now();
                    Ok(())
                })
            })
            .test_before_acquire(false)
            .before_acquire(move |connection, facts| {
                let heard = Arc::clone(&found);
                Box::pin(async move {
                    if facts.idle_for < ALIVE_AGE {
                        return Ok(true);
                    }
                    heard.ping(connection, patience / 2).await
                })
            })
            // The pool itself would wait forever for a returned connection that hangs.
            .after_release(move |connection, _| {
                let heard = Arc::clone(&given_back);
                Box::pin(async move { heard.ping(connection, STATEMENT_TIMEOUT).await })
            })
            .connect_lazy_with(connect.application_name("photic"));
        Ok(Self { pool, patience, heard, made: AtomicBool::new(false), making: Mutex::new(None) })
    }

    /// Returns a connection to a database that has its tables.
    pub(super) async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Error> {
        self.unless_silent(self.pool().await?.acquire()).await
    }

    /// Waits for a connection while the server is alive.
    pub(super) async fn unless_silent<T>(
        &self,
        waiting: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            had = waiting => had.map_err(failed),
            () = self.heard.nothing_for(self.patience) => Err(late()),
        }
    }

    /// Returns the pool of a database that has its tables.
    pub(super) async fn pool(&self) -> Result<&PgPool, Error> {
        if self.made.load(Ordering::Acquire) {
            return Ok(&self.pool);
        }
        let begun = Instant::now();
        let mut failure = timeout(self.patience, self.making.lock()).await.map_err(|_| late())?;
        if self.made.load(Ordering::Acquire) {
            return Ok(&self.pool);
        }
        // A caller that waited for a failed attempt need not repeat it.
        if failure.is_some_and(|time| time > begun) {
            return Err(late());
        }
        let made = match self.unless_silent(self.pool.acquire()).await.map(drop) {
            Ok(()) => timeout(MIGRATION_TIMEOUT, format::make(&self.pool))
                .await
                .unwrap_or_else(|_| Err(late())),
            Err(error) => Err(error),
        };
        match made {
            Ok(()) => self.made.store(true, Ordering::Release),
            Err(_) => *failure = Some(Instant::now()),
        }
        made.map(|()| &self.pool)
    }

    /// Returns whether the server is alive. An answer to any connection counts.
    pub(super) async fn is_there(&self) -> bool {
        if self.heard.ago() < self.patience {
            return true;
        }
        let asking = async {
            let mut connection = self.connection().await?;
            sqlx::query("SELECT 1").execute(&mut *connection).answer().await
        };
        matches!(timeout(self.patience, asking).await, Ok(Ok(_)))
    }
}

/// Time of the last answer of the server on any connection.
#[derive(Debug)]
struct LastAnswer {
    started: Instant,
    /// In milliseconds since `started`; 0 for never.
    at: AtomicU64,
}

impl LastAnswer {
    fn now(&self) {
        let at = self.started.elapsed().as_millis() as u64;
        self.at.fetch_max(at.max(1), Ordering::Relaxed);
    }

    /// Returns the time since the last answer.
    fn ago(&self) -> Duration {
        match self.at.load(Ordering::Relaxed) {
            0 => Duration::MAX,
            at => self.started.elapsed().saturating_sub(Duration::from_millis(at)),
        }
    }

    /// Completes when the server was silent for this time.
    async fn nothing_for(&self, patience: Duration) {
        let begun = Instant::now();
        while self.ago().min(begun.elapsed()) < patience {
            tokio::time::sleep(patience / 4).await;
        }
    }

    /// Pings the server on a connection.
    async fn ping(&self, connection: &mut PgConnection, within: Duration) -> sqlx::Result<bool> {
        let answer = timeout(within, connection.ping()).await;
        answer.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        self.now();
        Ok(true)
    }
}

/// A query with a timeout.
pub(super) trait Answer<T>: Future<Output = Result<T, sqlx::Error>> + Send + Sized {
    /// Runs the query within the timeout.
    fn answer(self) -> impl Future<Output = Result<T, Error>> + Send {
        async { timeout(STATEMENT_TIMEOUT, self).await.map_err(|_| late())?.map_err(failed) }
    }
}

impl<T, F: Future<Output = Result<T, sqlx::Error>> + Send> Answer<T> for F {}

fn late() -> Error {
    Error::Unavailable("the server of the record did not answer in time".into())
}

/// Converts an error of the client.
pub(super) fn failed(error: sqlx::Error) -> Error {
    if is_away(&error) { Error::Unavailable(error.into()) } else { Error::Refused(error.into()) }
}

fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Connection failures, exhausted resources, operator intervention and disk failures: error
        // classes of PostgreSQL.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "53", "57P", "58"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
