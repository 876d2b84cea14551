//! Uploads directly into the bucket: of a stated size, for a limited time, removed if not taken.

use std::time::Duration;

use photic_fleet::{Documents as _, Fleet, LESSONS, Limits, QuotaOptions, Quotas, Upload};
use photic_store::Tenant;

use crate::servers::places;

const LONG: Duration = Duration::from_mins(10);

/// Uploads bytes like a client. The bucket checks the signature.
async fn put(fleet: &Fleet, tenant: i64, upload: &Upload, bytes: &'static [u8]) -> String {
    let (day, random) = upload.id.trim_start_matches("up_").split_once('_').unwrap();
    let key = format!("incoming/{day}/{tenant}/{random}");
    assert!(upload.url.contains(&key), "{}", upload.url);
    fleet.bucket.put(&key, vec![bytes.into()]).await.unwrap();
    key
}

/// Returns the number of a tenant from the URL of its upload.
async fn number(fleet: &Fleet, tenant: &Tenant) -> i64 {
    let upload = fleet.expect_upload(tenant, 1, LONG).await.unwrap().unwrap();
    let path = upload.url.split("incoming/").nth(1).unwrap();
    path.split('/').nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_taken_in_once_and_as_large_as_was_said() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let (tenant, other) = (Tenant::new("a"), Tenant::new("b"));
        let id = number(&fleet, &tenant).await;
        let good = fleet.expect_upload(&tenant, 5, LONG).await.unwrap().unwrap();
        let key = put(&fleet, id, &good, b"12345").await;
        assert_eq!(fleet.take_upload(&other, &good.id).await.unwrap(), None);
        assert_eq!(fleet.take_upload(&tenant, &good.id).await.unwrap().unwrap(), "12345");
        // A second upload to the URL is not taken.
        put(&fleet, id, &good, b"54321").await;
        assert_eq!(fleet.take_upload(&tenant, &good.id).await.unwrap(), None);
        assert_eq!(fleet.expected_bytes(&tenant, &good.id).await.unwrap(), None);
        let large = fleet.expect_upload(&tenant, 4, LONG).await.unwrap().unwrap();
        put(&fleet, id, &large, b"12345").await;
        assert_eq!(fleet.take_upload(&tenant, &large.id).await.unwrap(), None);
        // An upload that was too large is gone.
        assert_eq!(fleet.bucket.list("incoming").await.unwrap(), [key]);
        for wrong in ["up_1_x", "up_20000_00000000000000000000000000000000", "", "../x"] {
            assert_eq!(fleet.take_upload(&tenant, wrong).await.unwrap(), None, "{wrong}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_late_is_removed_and_counts_no_more() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let tenant = Tenant::new("a");
        let id = number(&fleet, &tenant).await;
        let options = QuotaOptions {
            defaults: Limits { stored_bytes: Some(1000), ..Limits::default() },
            ..QuotaOptions::default()
        };
        let late = fleet.expect_upload(&tenant, 900, Duration::ZERO).await.unwrap().unwrap();
        put(&fleet, id, &late, b"late").await;
        // Sums now include the signed size.
        let quotas = Quotas::new(fleet.record.clone(), options).unwrap();
        assert!(quotas.store(&tenant, 200).await.is_err());
        assert_eq!(fleet.take_upload(&tenant, &late.id).await.unwrap(), None);
        fleet.retire(30).await.unwrap();
        assert!(fleet.bucket.list("incoming").await.unwrap().is_empty());
        let quotas = Quotas::new(fleet.record.clone(), options).unwrap();
        quotas.store(&tenant, 900).await.unwrap();
        assert!(quotas.store(&tenant, 200).await.is_err());
        quotas.give_back(&tenant, 900).await;
        quotas.store(&tenant, 200).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_addresses_without_number() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let tenant = Tenant::new("a");
        let mut signed = 0;
        while fleet.expect_upload(&tenant, 1, LONG).await.unwrap().is_some() {
            signed += 1;
            assert!(signed <= 256);
        }
        assert_eq!(signed, 256);
        assert!(fleet.expect_upload(&Tenant::new("b"), 1, LONG).await.unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_and_lessons_of_a_forgotten_tenant_go_and_strays_are_removed() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let (goes, stays) = (Tenant::new("goes"), Tenant::new("stays"));
        let (id, other_id) = (number(&fleet, &goes).await, number(&fleet, &stays).await);
        let upload = fleet.expect_upload(&goes, 9, LONG).await.unwrap().unwrap();
        put(&fleet, id, &upload, b"mine").await;
        let other = fleet.expect_upload(&stays, 9, LONG).await.unwrap().unwrap();
        let theirs = put(&fleet, other_id, &other, b"theirs").await;
        let lessons =
            r#"{"version":2,"entries":[{"teacher":"tenant:goes"},{"teacher":"tenant:stays"}]}"#;
        fleet.record.change_document(LESSONS, |_| lessons.to_owned()).await.unwrap();
        let forgotten = fleet.forget_tenant_after(&goes, Duration::ZERO).await.unwrap();
        assert_eq!(forgotten.objects, 1);
        assert!(forgotten.left.is_empty(), "{forgotten:?}");
        assert_eq!(fleet.bucket.list("incoming").await.unwrap(), std::slice::from_ref(&theirs));
        let text = fleet.record.document(LESSONS).await.unwrap().text;
        assert!(!text.contains("goes") && text.contains("stays"), "{text}");
        // A URL signed before stays valid for a while.
        put(&fleet, id, &upload, b"after").await;
        fleet.retire(30).await.unwrap();
        assert_eq!(fleet.bucket.list("incoming").await.unwrap(), [theirs]);
        assert_eq!(fleet.take_upload(&stays, &other.id).await.unwrap().unwrap(), "theirs");
    }
}
