//! The server, which may be away: connections to it, what they wait for, and how long.
//!
//! Nothing here needs the server to be up before something is asked of it. Whoever reaches it first
//! makes the tables; whoever cannot is told so soon, and nobody has to be started again afterwards.
//!
//! A server that is busy is not away: as long as it answers somebody, the others wait their turn.

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

/// How long a statement may take that somebody waits for. A server that takes longer is away.
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may take to make the tables, or to wait for somebody who does.
const MAKING: Duration = Duration::from_mins(1);
/// A connection that was used less than this ago is taken to be there.
const FRESH: Duration = Duration::from_secs(1);

/// Connections to the server.
#[derive(Debug)]
pub(super) struct Server {
    pool: PgPool,
    patience: Duration,
    heard: Arc<Heard>,
    /// Whether the tables are there.
    made: AtomicBool,
    /// Held by whoever makes them; when somebody failed to, last.
    making: Mutex<Option<Instant>>,
}

impl Server {
    pub(super) fn lazy(address: &str, options: PostgresOptions) -> Result<Self, Error> {
        let is_ours = ["postgres://", "postgresql://"].iter().any(|kind| address.starts_with(kind));
        if !is_ours {
            return Err(Error::Refused("a database is named `postgres://…`".into()));
        }
        let connect: PgConnectOptions = address.parse().map_err(failed)?;
        let patience = options.patience;
        let heard = Arc::new(Heard { started: Instant::now(), at: AtomicU64::new(0) });
        let [connected, found, given_back] = [(); 3].map(|()| Arc::clone(&heard));
        let pool = PgPoolOptions::new()
            .max_connections(options.connections)
            .acquire_timeout(patience.max(ANSWER))
            .after_connect(move |connection, _| {
                // Statements are the same all day and find their rows by keys. To plan them for
                // their values, over the partitions of all days, took a quarter of the server's time.
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
                    if facts.idle_for < FRESH {
                        return Ok(true);
                    }
                    heard.ping(connection, patience / 2).await
                })
            })
            // The pool itself waits for ever for a connection that is given back and hangs.
            .after_release(move |connection, _| {
                let heard = Arc::clone(&given_back);
                Box::pin(async move { heard.ping(connection, ANSWER).await })
            })
            .connect_lazy_with(connect.application_name("photic"));
        Ok(Self { pool, patience, heard, made: AtomicBool::new(false), making: Mutex::new(None) })
    }

    /// A connection to a database that has its tables.
    pub(super) async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Error> {
        self.unless_silent(self.pool().await?.acquire()).await
    }

    /// What waits for a connection, as long as the server is heard of.
    pub(super) async fn unless_silent<T>(
        &self,
        waiting: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            had = waiting => had.map_err(failed),
            () = self.heard.nothing_for(self.patience) => Err(late()),
        }
    }

    /// Connections to a database that has its tables.
    pub(super) async fn pool(&self) -> Result<&PgPool, Error> {
        if self.made.load(Ordering::Acquire) {
            return Ok(&self.pool);
        }
        let begun = Instant::now();
        let mut failure = timeout(self.patience, self.making.lock()).await.map_err(|_| late())?;
        if self.made.load(Ordering::Acquire) {
            return Ok(&self.pool);
        }
        // Whoever waited for one that could not need not find out again.
        if failure.is_some_and(|time| time > begun) {
            return Err(late());
        }
        let made = match self.unless_silent(self.pool.acquire()).await.map(drop) {
            Ok(()) => {
                timeout(MAKING, format::make(&self.pool)).await.unwrap_or_else(|_| Err(late()))
            }
            Err(error) => Err(error),
        };
        match made {
            Ok(()) => self.made.store(true, Ordering::Release),
            Err(_) => *failure = Some(Instant::now()),
        }
        made.map(|()| &self.pool)
    }

    /// Whether the server answers, said in a moment: it need not answer us.
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

/// When the server was heard of last, by any connection.
#[derive(Debug)]
struct Heard {
    started: Instant,
    /// In milliseconds since then; 0 for never.
    at: AtomicU64,
}

impl Heard {
    fn now(&self) {
        let at = self.started.elapsed().as_millis() as u64;
        self.at.fetch_max(at.max(1), Ordering::Relaxed);
    }

    /// How long ago that was.
    fn ago(&self) -> Duration {
        match self.at.load(Ordering::Relaxed) {
            0 => Duration::MAX,
            at => self.started.elapsed().saturating_sub(Duration::from_millis(at)),
        }
    }

    /// Ends when nothing was heard for so long.
    async fn nothing_for(&self, patience: Duration) {
        let begun = Instant::now();
        while self.ago().min(begun.elapsed()) < patience {
            tokio::time::sleep(patience / 4).await;
        }
    }

    /// Hears from the server on a connection.
    async fn ping(&self, connection: &mut PgConnection, within: Duration) -> sqlx::Result<bool> {
        let answer = timeout(within, connection.ping()).await;
        answer.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        self.now();
        Ok(true)
    }
}

/// What the server is asked, waited for only so long.
pub(super) trait Answer<T>: Future<Output = Result<T, sqlx::Error>> + Send + Sized {
    /// The answer.
    fn answer(self) -> impl Future<Output = Result<T, Error>> + Send {
        async { timeout(ANSWER, self).await.map_err(|_| late())?.map_err(failed) }
    }
}

impl<T, F: Future<Output = Result<T, sqlx::Error>> + Send> Answer<T> for F {}

fn late() -> Error {
    Error::Unavailable("the server of the record did not answer in time".into())
}

/// What an error of the server's client means to us.
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
        // Connections that break, resources that are used up, operators who intervene, and a disk
        // that fails: classes of PostgreSQL's own list.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "53", "57P", "58"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
