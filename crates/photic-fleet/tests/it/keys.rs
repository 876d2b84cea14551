//! Keys of tenants: valid until rotated, revoked or expired, and only for their tenant.

use std::time::Duration;

use photic_fleet::{ApiKey, KeyCache, Keys as _};
use photic_store::Tenant;

use crate::servers::place;

#[tokio::test(flavor = "multi_thread")]
async fn keys_open_for_their_tenant_until_they_end() {
    let Some(place) = place().await else { return };
    let record = place.open().await.record;
    let (ours, theirs) = (Tenant::new("ours"), Tenant::new("theirs"));
    let key = record.issue_key(&ours, "ci", None).await.unwrap();
    assert_eq!(record.tenant_of(&key).await.unwrap(), Some(ours.clone()));
    assert_eq!(record.tenant_of(&ApiKey::random().unwrap()).await.unwrap(), None);
    // The right name with another secret.
    let secret = ApiKey::random().unwrap().reveal();
    let forged: ApiKey = format!("pk_{}{}", key.id(), &secret[15..]).parse().unwrap();
    assert_eq!(record.tenant_of(&forged).await.unwrap(), None);

    // Other tenants cannot use it.
    assert!(!record.revoke_key(&theirs, key.id()).await.unwrap());
    let rotated = record.rotate_key(&theirs, key.id(), Duration::from_hours(1)).await.unwrap();
    assert!(rotated.is_none() && record.keys(&theirs).await.unwrap().is_empty());

    // Rotated with an overlap, both are valid; without one, only the new key.
    let second =
        record.rotate_key(&ours, key.id(), Duration::from_hours(1)).await.unwrap().unwrap();
    for key in [&key, &second] {
        assert_eq!(record.tenant_of(key).await.unwrap(), Some(ours.clone()));
    }
    let third = record.rotate_key(&ours, second.id(), Duration::ZERO).await.unwrap().unwrap();
    assert_eq!(record.tenant_of(&second).await.unwrap(), None);
    assert!(record.rotate_key(&ours, second.id(), Duration::ZERO).await.unwrap().is_none());
    assert_eq!(record.tenant_of(&third).await.unwrap(), Some(ours.clone()));

    // Revoked by one replica, it is invalid at another that had not cached it.
    let other = KeyCache::new(place.open().await.record);
    assert!(record.revoke_key(&ours, third.id()).await.unwrap());
    assert!(!record.revoke_key(&ours, third.id()).await.unwrap());
    assert_eq!(other.tenant(&third.reveal()).await.unwrap(), None);
    assert_eq!(other.tenant(&key.reveal()).await.unwrap(), Some(ours.clone()));

    let short = record.issue_key(&ours, "short", Some(Duration::ZERO)).await.unwrap();
    assert_eq!(record.tenant_of(&short).await.unwrap(), None);
    let facts = record.keys(&ours).await.unwrap();
    assert_eq!(facts.len(), 4);
    assert!(facts.iter().any(|one| one.id == third.id().as_str() && one.revoked.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_key_is_in_the_database() {
    let Some(place) = place().await else { return };
    let record = place.open().await.record;
    let key = record.issue_key(&Tenant::new("secret"), "secret", None).await.unwrap();
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    let rows: Vec<String> =
        sqlx::query_scalar("SELECT api_key::text FROM api_key").fetch_all(&pool).await.unwrap();
    let secret = &key.reveal()[16..];
    assert!(rows.len() == 1 && rows[0].contains(key.id().as_str()), "{rows:?}");
    assert!(!rows[0].contains(secret) && !rows[0].contains(&secret[..20]));
}
