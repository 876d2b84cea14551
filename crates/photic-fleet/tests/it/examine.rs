//! Known behavior of real bucket servers, confirmed by the examination.

use photic_fleet::{Bucket, BucketOptions, Creation, Expiry, examine};

use crate::servers::buckets;

#[tokio::test(flavor = "multi_thread")]
async fn buckets_are_found_to_be_what_they_are() {
    for (server, address) in buckets() {
        let found = examine(&address).await.unwrap();
        println!("{server}: {found:?}");
        assert!(found.suffices(), "{server}: {found:?}");
        let strict = Expiry { good_works: true, refuses_changed: true, refuses_old: true };
        match &*server {
            // It checks signatures, but does not support conditions.
            "swift" => {
                assert_eq!((found.creation, found.winners), (Creation::NotKnown, 0));
                assert_eq!((found.expiry, found.refuses_damage), (strict, true));
                assert!(found.may_be_signed_for() && !found.creates_once());
            }
            // The other way round.
            "moto" => {
                assert_eq!((found.creation, found.winners), (Creation::Refused, 1));
                assert!(!found.expiry.refuses_changed && !found.expiry.refuses_old);
                assert!(!found.may_be_signed_for() && found.creates_once());
            }
            // It accepts conditions and ignores them.
            "garage" => {
                assert_eq!(found.creation, Creation::Overwritten);
                assert_eq!((found.expiry, found.refuses_damage), (strict, true));
                assert!(found.may_be_signed_for() && !found.creates_once());
            }
            _ => {}
        }
        // No test object is left.
        let bucket = Bucket::open(&address, BucketOptions::default()).unwrap();
        assert!(bucket.list("examination").await.unwrap().is_empty());
    }
}
