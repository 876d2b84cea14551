//! Servers that are not there: said at once, as what it is, and nothing is made up.

use std::time::{Duration, Instant};

use photic_fleet::{Bucket, BucketOptions, Fleet, Postgres, PostgresOptions};
use photic_store::contract::{Conversation, picture};
use photic_store::{BlobError, Blobs as _, Error, Tenant};

use crate::servers::{database, place};

/// Nobody listens there.
const NOBODY: &str = "127.0.0.1:1";

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_said_to_be() {
    let options = PostgresOptions { patience: Duration::from_millis(500), connections: 1 };
    let begun = Instant::now();
    let error = Postgres::open(&format!("postgres://postgres@{NOBODY}/x"), options).await;
    assert!(matches!(error, Err(Error::Away(_))), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_away_loses_the_turn_and_not_the_record() {
    let Some(database) = database().await else { return };
    let record = Postgres::open(&database, PostgresOptions::default()).await.unwrap();
    let options = BucketOptions { patience: Duration::from_millis(500), retries: 1 };
    let address = format!("s3://photic?endpoint=http://{NOBODY}&region=us-east-1");
    let bucket = Bucket::open(&address, options).unwrap();
    let store = Fleet { record, bucket }.store(Tenant::new("away"));
    let put = store.blobs.put(b"a picture").await;
    assert!(matches!(put, Err(BlobError::Away(_))), "{put:?}");
    let id = store.begin("away").await.unwrap();
    let mut talk = Conversation::new("look");
    talk.send(&store, &id, 1).await.unwrap();
    talk.look(&picture(1, 2000));
    assert!(talk.send(&store, &id, 2).await.is_err());
    // No turn refers to what was not stored.
    assert_eq!(store.session(&id).await.unwrap().turns, 1);
    store.lower(&id, 1).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_format_is_left_alone() {
    let Some(place) = place().await else { return };
    place.open().await;
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    sqlx::raw_sql("INSERT INTO format (number) VALUES (99)").execute(&pool).await.unwrap();
    let opened = Postgres::open(&place.database, PostgresOptions::default()).await;
    assert!(matches!(opened, Err(Error::TooNew { found: 99, .. })), "{opened:?}");
}
