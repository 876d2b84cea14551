//! The servers named by the environment, with a separate area for every test.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic_fleet::{Bucket, BucketOptions, Fleet, Postgres, PostgresOptions};

/// A fleet for a test: a new database and a new folder of a bucket.
#[derive(Clone, Debug)]
pub(crate) struct TestFleet {
    /// The server of the bucket.
    pub(crate) server: String,
    pub(crate) database: String,
    pub(crate) bucket: String,
}

impl TestFleet {
    /// Options with generous timeouts for busy machines.
    pub(crate) async fn open_patiently(&self) -> Fleet {
        let options =
            PostgresOptions { patience: Duration::from_secs(20), ..PostgresOptions::default() };
        let record = Postgres::open(&self.database, options).await.unwrap();
        let bucket = Bucket::open(&self.bucket, BucketOptions::default()).unwrap();
        Fleet { record, bucket }
    }

    /// Creates a replica of this fleet.
    pub(crate) async fn open(&self) -> Fleet {
        let record = Postgres::open(&self.database, PostgresOptions::default()).await.unwrap();
        let bucket = Bucket::open(&self.bucket, BucketOptions::default()).unwrap();
        Fleet { record, bucket }
    }
}

/// Creates a fleet on every bucket server.
pub(crate) async fn places() -> Vec<TestFleet> {
    let mut places = Vec::new();
    for (server, bucket) in buckets() {
        let Some(database) = database().await else { break };
        places.push(TestFleet { server, database, bucket });
    }
    places
}

/// Creates a fleet on the first bucket server, for tests that are not about buckets.
pub(crate) async fn place() -> Option<TestFleet> {
    let (server, bucket) = buckets().into_iter().next()?;
    Some(TestFleet { server, database: database().await?, bucket })
}

/// Returns the bucket servers, with a new folder on each.
pub(crate) fn buckets() -> Vec<(String, String)> {
    let named = std::env::vars().filter_map(|(name, address)| {
        let server = name.strip_prefix("PHOTIC_FLEET_BUCKET_")?.to_lowercase();
        let (bucket, rest) = address.split_once('?')?;
        Some((server, format!("{bucket}/{}?{rest}", unique())))
    });
    let mut named: Vec<(String, String)> = named.collect();
    named.sort();
    if named.is_empty() {
        println!("skipped: no servers are up; see tests/e2e/fleet/with");
    }
    named
}

/// Returns the URL of a new, empty database.
pub(crate) async fn database() -> Option<String> {
    let server = std::env::var("PHOTIC_FLEET_POSTGRES").ok()?;
    let name = unique();
    let pool = sqlx::PgPool::connect(&server).await.unwrap();
    // The name is generated, so it needs no escaping.
    let make = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(make).execute(&pool).await.unwrap();
    Some(format!("{}/{name}", server.rsplit_once('/').unwrap().0))
}

fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("photic_{time}_{}_{count}", std::process::id())
}
