//! Blobs in buckets: packed, verified, and private to a tenant.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use photic_store::contract::picture;
use photic_store::{BlobError, BlobId, Blobs, Tenant};

use crate::servers::places;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_together_is_one_object() {
    for place in places().await {
        let fleet = place.open().await;
        let blobs = fleet.store(Tenant::new("packed")).blobs;
        let pictures: Vec<Vec<u8>> =
            (0..5).map(|seed| picture(seed, 1000 + seed as usize)).chain([Vec::new()]).collect();
        let ids = blobs.put_all(&pictures).await.unwrap();
        for (id, bytes) in ids.iter().zip(&pictures) {
            assert_eq!((BlobId::of(bytes), &blobs.get(id).await.unwrap()), (*id, bytes));
        }
        assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 1);
        let mut starts = BTreeSet::new();
        for id in &ids[..5] {
            starts.insert(blobs.places(id).await.unwrap()[0].at);
        }
        assert_eq!(starts.len(), 5);

        // Removing a blob leaves the others, and the object goes with the last.
        let future = SystemTime::now() + Duration::from_hours(1);
        for (count, id) in ids.iter().enumerate() {
            assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 1);
            assert!(blobs.remove(id, future).await.unwrap());
            for (other, bytes) in ids.iter().zip(&pictures).skip(count + 1) {
                assert_eq!(&blobs.get(other).await.unwrap(), bytes);
            }
        }
        assert!(fleet.bucket.list("t").await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_bucket_damaged_is_never_returned() {
    for place in places().await {
        let fleet = place.open().await;
        let blobs = fleet.store(Tenant::new("damaged")).blobs;
        let id = blobs.put(&picture(1, 2000)).await.unwrap();
        let object = blobs.places(&id).await.unwrap()[0].object.clone();
        let other = Bytes::from(picture(2, 2000));
        for bytes in [other.clone(), other.slice(..1000), Bytes::from(picture(1, 2001))] {
            fleet.bucket.put(&object, vec![bytes.clone()]).await.unwrap();
            let got = blobs.get(&id).await;
            // The first 2,000 bytes of the longer object are the stored ones.
            let is_whole = bytes.len() > 2000 && bytes[..2000] == picture(1, 2000);
            assert_eq!(got.is_ok(), is_whole, "{got:?}");
            if !is_whole {
                assert!(matches!(got, Err(BlobError::Damaged(_))), "{got:?}");
            }
        }
        fleet.bucket.remove(&object).await.unwrap();
        assert!(matches!(blobs.get(&id).await, Err(BlobError::Absent(_))));

        // Stored again on another day, an intact copy replaces a damaged one.
        fleet.record.pretend_later(1);
        blobs.put(&picture(1, 2000)).await.unwrap();
        fleet.record.pretend_later(1);
        blobs.put(&picture(1, 2000)).await.unwrap();
        let places = blobs.places(&id).await.unwrap();
        assert_eq!(places.len(), 3);
        fleet.bucket.put(&places[0].object, vec![other]).await.unwrap();
        assert_eq!(blobs.get(&id).await.unwrap(), picture(1, 2000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_stored_by_many_at_once_are_one_blob() {
    for place in places().await {
        let fleet = place.open().await;
        let other = place.open().await;
        let tenant = Tenant::new("many");
        let bytes = picture(7, 3000);
        // By two replicas that do not know each other.
        let putting = (0..8).map(|at| {
            let fleet = if at % 2 == 0 { &fleet } else { &other };
            let (blobs, bytes) = (fleet.store(tenant.clone()).blobs, bytes.clone());
            tokio::spawn(async move { blobs.put(&bytes).await.unwrap() })
        });
        for put in putting.collect::<Vec<_>>() {
            assert_eq!(put.await.unwrap(), BlobId::of(&bytes));
        }
        let blobs = fleet.store(tenant).blobs;
        assert_eq!(blobs.places(&BlobId::of(&bytes)).await.unwrap().len(), 1);
        assert_eq!(blobs.get(&BlobId::of(&bytes)).await.unwrap(), bytes);
        assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_share_nothing_and_learn_nothing() {
    for place in places().await {
        let fleet = place.open().await;
        let (ours, theirs) = (Tenant::new("ours"), Tenant::new("theirs"));
        let (ours, theirs) = (fleet.store(ours).blobs, fleet.store(theirs).blobs);
        let own = theirs.put(&picture(2, 2000)).await.unwrap();
        let id = ours.put(&picture(1, 2000)).await.unwrap();
        assert!(matches!(theirs.get(&id).await, Err(BlobError::Absent(_))));
        assert!(!theirs.has(&id).await.unwrap());
        let listed: Vec<BlobId> =
            theirs.list(None).await.unwrap().into_iter().map(|one| one.id).collect();
        assert_eq!(listed, [own]);
        let future = SystemTime::now() + Duration::from_hours(1);
        assert!(!theirs.remove(&id, future).await.unwrap());
        assert_eq!(theirs.put(&picture(1, 2000)).await.unwrap(), id);
        assert_eq!(fleet.bucket.list("t").await.unwrap().len(), 3);
        assert!(theirs.remove(&id, future).await.unwrap());
        assert_eq!(ours.get(&id).await.unwrap(), picture(1, 2000));
    }
}
