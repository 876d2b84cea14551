//! Blobs stored at the same time share few objects, and failures do not affect others.

use std::time::Duration;

use photic_fleet::{Bucket, BucketOptions, Fleet};
use photic_store::contract::picture;
use photic_store::{BlobError, BlobId, Blobs as _, Tenant};

use crate::proxy::{Mode, Proxy};
use crate::servers::{place, places};

#[tokio::test(flavor = "multi_thread")]
async fn what_many_store_at_once_is_few_objects() {
    for place in places().await {
        let fleet = place.open().await;
        let tenant = Tenant::new("many");
        let storing = (0..64).map(|seed| {
            let blobs = fleet.store(tenant.clone()).blobs;
            tokio::spawn(async move {
                let bytes = picture(seed / 2, 2000);
                let id = blobs.put(&bytes).await.unwrap();
                // It is readable as soon as it is reported as stored.
                assert_eq!(blobs.get(&id).await.unwrap(), bytes);
                id
            })
        });
        let mut ids = Vec::new();
        for stored in storing.collect::<Vec<_>>() {
            ids.push(stored.await.unwrap());
        }
        let objects = fleet.bucket.list("t").await.unwrap();
        println!("{}: 64 at once are {} objects", place.server, objects.len());
        assert!(objects.len() <= 16, "{}", objects.len());
        let blobs = fleet.store(tenant).blobs;
        for (seed, id) in (0..64).zip(&ids) {
            assert_eq!(*id, BlobId::of(&picture(seed / 2, 2000)));
            assert_eq!(blobs.places(id).await.unwrap().len(), 1);
        }
        // Tenants never share an object.
        fleet.store(Tenant::new("other")).blobs.put(&picture(0, 2000)).await.unwrap();
        assert_eq!(fleet.bucket.list("t").await.unwrap().len(), objects.len() + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_ones_do_not_wait_for_each_other() {
    let Some(place) = place().await else { return };
    let fleet = place.open().await;
    let storing = (0..6).map(|seed| {
        let blobs = fleet.store(Tenant::new("large")).blobs;
        tokio::spawn(async move { blobs.put(&picture(seed, 5 << 20)).await.unwrap() })
    });
    for stored in storing.collect::<Vec<_>>() {
        stored.await.unwrap();
    }
    // Two of them exceed the size of an object.
    assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_fails_all_of_its_object_and_no_other() {
    let Some(place) = place().await else { return };
    let proxy = Proxy::to(&place.bucket).await;
    let options = BucketOptions { patience: Duration::from_secs(5), retries: 0 };
    let fleet = Fleet {
        record: place.open().await.record,
        bucket: Bucket::open(&proxy.address(&place.bucket), options).unwrap(),
    };
    let store = |seed: u64| {
        let blobs = fleet.store(Tenant::new("failing")).blobs;
        tokio::spawn(async move { blobs.put(&picture(seed, 2000)).await })
    };
    store(0).await.unwrap().unwrap();

    // One is being written, ten wait behind it; then its connection breaks.
    proxy.set(Mode::Hold);
    let first = store(1);
    proxy.until_held(1).await;
    let behind: Vec<_> = (2..12).map(store).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    proxy.set(Mode::Cut);
    let failed = first.await.unwrap();
    assert!(matches!(failed, Err(BlobError::Unavailable(_))), "{failed:?}");
    // They are one object: all of them fail, or none.
    let mut outcomes = Vec::new();
    for stored in behind {
        outcomes.push(stored.await.unwrap().is_ok());
    }
    assert_eq!(outcomes, [false; 10], "all of them were cut off");
    proxy.set(Mode::Pass);
    let blobs = fleet.store(Tenant::new("failing")).blobs;
    for seed in 1..12 {
        assert!(!blobs.has(&BlobId::of(&picture(seed, 2000))).await.unwrap());
    }

    // Again, and the path is free for those behind it.
    proxy.set(Mode::Hold);
    let first = store(1);
    proxy.until_held(1).await;
    let behind: Vec<_> = (2..12).map(store).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    proxy.cut_held();
    assert!(first.await.unwrap().is_err());
    proxy.set(Mode::Pass);
    for stored in behind {
        stored.await.unwrap().unwrap();
    }
    assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 2);

    // A caller that stops waiting does not affect others.
    proxy.set(Mode::Hold);
    let first = store(20);
    proxy.until_held(1).await;
    let second = store(21);
    tokio::time::sleep(Duration::from_millis(100)).await;
    first.abort();
    proxy.set(Mode::Pass);
    second.await.unwrap().unwrap();
    assert_eq!(blobs.get(&BlobId::of(&picture(21, 2000))).await.unwrap(), picture(21, 2000));
}
