//! Unavailable servers: reported at once, with the right error.

use std::time::{Duration, Instant};

use photic_fleet::{Bucket, BucketOptions, Fleet, Postgres, PostgresOptions};
use photic_store::contract::{Conversation, picture};
use photic_store::{BlobError, Blobs as _, Error, Record as _, Tenant};

use crate::proxy::{Mode, Proxy};
use crate::servers::{database, place};

/// No server listens there.
const NOBODY: &str = "127.0.0.1:1";

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_said_to_be() {
    let options = PostgresOptions { patience: Duration::from_millis(500), connections: 1 };
    let begun = Instant::now();
    let error = Postgres::open(&format!("postgres://postgres@{NOBODY}/x"), options).await;
    assert!(matches!(error, Err(Error::Unavailable(_))), "{error:?}");
    assert!(begun.elapsed() < Duration::from_mins(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_is_away_until_it_does_not() {
    let Some(database) = database().await else { return };
    let (server, name) = database.split_once('@').unwrap().1.split_once('/').unwrap();
    let proxy = Proxy::to_server(server).await;
    let address = format!("postgres://postgres@127.0.0.1:{}/{name}", proxy.port());
    let record = Postgres::lazy(&address, PostgresOptions::default()).unwrap();
    let store = move |record: &Postgres| {
        let record = record.clone();
        tokio::spawn(async move { record.sessions(&Tenant::new("hanging")).await })
    };
    // All allowed connections are open.
    for asked in (0..40).map(|_| store(&record)).collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
    proxy.set(Mode::Hold);
    let begun = Instant::now();
    // More than there are connections, some of them without a caller.
    let asking: Vec<_> = (0..40).map(|_| store(&record)).collect();
    for (at, asked) in asking.into_iter().enumerate() {
        if at % 2 == 0 {
            asked.abort();
        } else {
            let sessions = asked.await.unwrap();
            assert!(matches!(sessions, Err(Error::Unavailable(_))), "{sessions:?}");
        }
    }
    assert!(!record.is_there().await);
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    // The way is free, but not for the connections that hung: they are never heard of again.
    proxy.lose_held();
    proxy.set(Mode::Pass);
    let begun = Instant::now();
    while !record.is_there().await {
        assert!(begun.elapsed() < Duration::from_mins(1), "it never came back");
    }
    for asked in (0..40).map(|_| store(&record)).collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_busy_is_not_away() {
    let Some(database) = database().await else { return };
    let (server, name) = database.split_once('@').unwrap().1.split_once('/').unwrap();
    let proxy = Proxy::to_server(server).await;
    let address = format!("postgres://postgres@127.0.0.1:{}/{name}", proxy.port());
    // One connection, so that all have to wait for each other.
    let patience = Duration::from_millis(600);
    let options = PostgresOptions { connections: 1, patience };
    let record = Postgres::lazy(&address, options).unwrap();
    record.sessions(&Tenant::new("busy")).await.unwrap();
    proxy.set(Mode::Slow(Duration::from_millis(50)));
    let begun = Instant::now();
    let asking: Vec<_> = (0..6)
        .map(|_| {
            let record = record.clone();
            tokio::spawn(async move { record.sessions(&Tenant::new("busy")).await })
        })
        .collect();
    tokio::time::sleep(patience).await;
    assert!(record.is_there().await, "it answers others");
    for asked in asking {
        asked.await.unwrap().unwrap();
    }
    assert!(begun.elapsed() > patience, "nobody had to wait: {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_of_no_database_is_an_error_at_once() {
    for wrong in ["", "database", "mysql://database", "postgres://[", "postgres://x:port/y"] {
        let opened = Postgres::lazy(wrong, PostgresOptions::default());
        assert!(matches!(opened, Err(Error::Refused(_))), "{wrong}: {opened:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_away_loses_the_turn_and_not_the_record() {
    let Some(database) = database().await else { return };
    let record = Postgres::open(&database, PostgresOptions::default()).await.unwrap();
    let options = BucketOptions { patience: Duration::from_millis(500), retries: 1 };
    let address = format!("s3://photic?endpoint=http://{NOBODY}&region=us-east-1");
    let bucket = Bucket::open(&address, options).unwrap();
    let store = Fleet { record, bucket: bucket.clone() }.store(Tenant::new("away"));
    assert!(!bucket.is_there().await);
    let put = store.blobs.put(b"a picture").await;
    assert!(matches!(put, Err(BlobError::Unavailable(_))), "{put:?}");
    let id = store.begin("away").await.unwrap();
    let mut talk = Conversation::new("look");
    talk.send(&store, &id, 1).await.unwrap();
    talk.look(&picture(1, 2000));
    assert!(talk.send(&store, &id, 2).await.is_err());
    // No turn refers to bytes that were not stored.
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
