//! A database that starts late, fails under load, and returns: replicas are not restarted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use photic_fleet::{Bucket, BucketOptions, Fleet, FleetStore, Postgres, PostgresOptions};
use photic_store::contract::{Conversation, picture};
use photic_store::{BlobError, Error, SessionId, Tenant};

use crate::cluster::Cluster;
use crate::servers::buckets;

#[tokio::test(flavor = "multi_thread")]
async fn replicas_outlive_their_database() {
    let Some((cluster, (_, bucket))) = Cluster::new("restart").zip(buckets().into_iter().next())
    else {
        return;
    };
    // The replica starts first.
    let record = Postgres::lazy(&cluster.address(), PostgresOptions::default()).unwrap();
    let bucket = Bucket::open(&bucket, BucketOptions::default()).unwrap();
    assert!(!record.is_there().await && bucket.is_there().await);
    let fleet = Fleet { record, bucket };
    let store = fleet.store(Tenant::new("early"));
    let begun = Instant::now();
    let asking = (0..40).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.sessions().await })
    });
    for asked in asking.collect::<Vec<_>>() {
        let sessions = asked.await.unwrap();
        assert!(matches!(sessions, Err(Error::Unavailable(_))), "{sessions:?}");
    }
    // One after another they would take forty seconds.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());

    cluster.start();
    until(async || fleet.record.is_there().await).await;
    assert!(store.sessions().await.unwrap().is_empty());

    // Under load it crashes, twice.
    let over = Arc::new(AtomicBool::new(false));
    let failures = Arc::new(AtomicU32::new(0));
    let mut writing = Vec::new();
    for writer in 0..6 {
        let (store, over) = (fleet.store(Tenant::new("early")), over.clone());
        // Begun before the database goes for the first time.
        let id = store.begin("early").await.unwrap();
        writing.push(tokio::spawn(write(store, id, writer, over, failures.clone())));
    }
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let seen = failures.load(Ordering::Relaxed);
        tokio::task::block_in_place(|| cluster.stop());
        until(async || failures.load(Ordering::Relaxed) > seen).await;
        tokio::task::block_in_place(|| cluster.start());
        // Every connection heals.
        until(async || {
            let seen = failures.load(Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(500)).await;
            failures.load(Ordering::Relaxed) == seen
        })
        .await;
    }
    over.store(true, Ordering::Relaxed);
    let mut written = Vec::new();
    for writer in writing {
        written.push(writer.await.unwrap());
    }

    // It goes and returns unnoticed while there are no requests.
    cluster.stop();
    cluster.start();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let asking = (0..6).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.sessions().await })
    });
    for asked in asking.collect::<Vec<_>>() {
        assert_eq!(asked.await.unwrap().unwrap().len(), 6);
    }
    for (id, turns) in written {
        assert!(turns.len() > 5, "{}", turns.len());
        for (number, body) in turns {
            assert_eq!(
                store.body(&id, number).await.unwrap(),
                body,
                "an acknowledged turn is lost"
            );
        }
    }
}

/// Writes turns until stopped. Returns the acknowledged ones.
async fn write(
    store: FleetStore,
    id: SessionId,
    writer: u64,
    over: Arc<AtomicBool>,
    failures: Arc<AtomicU32>,
) -> (SessionId, Vec<(u64, Vec<u8>)>) {
    let mut talk = Conversation::new("look");
    let mut turns = Vec::new();
    let mut seed = writer * 1000;
    while !over.load(Ordering::Relaxed) {
        let mut next = talk.clone();
        if talk.messages.len() > 4 {
            next.messages.truncate(1);
        }
        next.look(&picture(seed, 1500));
        seed += 1;
        tokio::time::sleep(Duration::from_millis(40)).await;
        match next.try_send(&store, &id, 1).await {
            Ok((number, _)) => {
                turns.push((number, next.body()));
                talk = next;
            }
            Err(Error::Unavailable(_) | Error::Blob(BlobError::Unavailable(_))) => {
                failures.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    (id, turns)
}

async fn until(is_so: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_mins(2), "it never came");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
