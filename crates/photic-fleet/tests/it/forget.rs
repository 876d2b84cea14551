//! Forgetting a tenant: nothing remains of it, and others keep everything.

use std::collections::BTreeMap;
use std::time::Duration;

use photic_fleet::{
    Audit, Derivatives as _, Fleet, KeyCache, Keys as _, Limits, QuotaOptions, QuotaRequest,
    Quotas, Verdict,
};
use photic_store::contract::{self, Conversation, picture};
use photic_store::record::{MadeBlob, RequestOutcome, StoredReply};
use photic_store::{
    BlobId, Blobs as _, Facts, Handles as _, Media as _, NewMedia, SessionId, Tenant,
};
use sqlx::PgPool;

use crate::servers::{TestFleet, places};

/// Creates some of everything that a tenant can have.
async fn furnish(fleet: &Fleet, tenant: &Tenant) -> (SessionId, String) {
    let store = fleet.store(tenant.clone());
    let mut talk = Conversation::new("look");
    let id = store.begin("furnished").await.unwrap();
    for seed in 0..3 {
        talk.look(&picture(seed, 2000));
        talk.send(&store, &id, 1).await.unwrap();
    }
    let blob = BlobId::of(&picture(0, 2000));
    let handle = store.name(blob.as_bytes()).await.unwrap();
    assert!(store.record.pin(tenant, &handle).await.unwrap());
    store.choose(&id, blob.as_bytes(), Some(photic::Choice::Drop)).await.unwrap();
    let turn = Some(1);
    let answered = RequestOutcome { session: Some(id.clone()), turn, ..RequestOutcome::default() };
    store.conclude(&answered, Some(&StoredReply::default())).await.unwrap();
    store.conclude(&RequestOutcome::default(), None).await.unwrap();
    let made = MadeBlob { blob, media_type: "image/png".into(), size: (1, 1) };
    fleet.record.keep_derivative(tenant, &[7; 16], &made).await.unwrap();
    let minting = NewMedia {
        blob: BlobId::of(&picture(1, 2000)),
        facts: Facts::default(),
        memory: photic::MediaStub::of(&photic::media::Payload::encode(&picture(1, 2000))).unwrap(),
        session: Some(id.clone()),
        lasting: Duration::from_hours(1),
    };
    fleet.record.create_media(tenant, &minting).await.unwrap();
    let key = fleet.record.issue_key(tenant, "furnished", None).await.unwrap();
    let limits = Limits { bytes_in_flight: Some(1000), ..Limits::default() };
    fleet
        .record
        .set_limits(tenant, &Limits { requests_per_minute: Some(9), ..limits })
        .await
        .unwrap();
    let quotas = Quotas::new(fleet.record.clone(), QuotaOptions::default()).unwrap();
    // Held forever, so that the claim exists when it is checked.
    std::mem::forget(quotas.admit(tenant, QuotaRequest { requests: 1, bytes: 100 }).await.unwrap());
    (id, key.reveal())
}

/// Counts the rows of a tenant in every table, by number and name.
async fn rows(place: &TestFleet, id: i64) -> BTreeMap<String, i64> {
    let pool = PgPool::connect(&place.database).await.unwrap();
    let tables: Vec<(String, String)> = sqlx::query_as(
        "SELECT table_name::text, column_name::text FROM information_schema.columns
         JOIN pg_class ON relname = table_name AND NOT relispartition
         WHERE table_schema = 'public' AND data_type = 'bigint'
            AND column_name IN ('tenant', 'session')",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let mut rows = BTreeMap::new();
    for (table, column) in tables {
        let is_its = match &*column {
            "session" => "session IN (SELECT id FROM was)",
            _ => "tenant = $1",
        };
        let count = format!("SELECT count(*) FROM {table} WHERE {is_its} AND $1 > 0");
        let count = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(count)).bind(id);
        *rows.entry(table).or_default() += count.fetch_one(&pool).await.unwrap();
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_forgotten_tenant_is_left_and_others_have_all() {
    for place in places().await {
        let fleet = place.open().await;
        let (goes, stays) = (Tenant::new("goes"), Tenant::new("stays"));
        for tenant in [&goes, &stays] {
            Box::pin(furnish(&fleet, tenant)).await;
        }
        // Pinned or referenced pictures of dropped days have copies.
        fleet.record.pretend_later(2);
        assert!(fleet.retire(0).await.unwrap().kept >= 2);
        let (session, key) = Box::pin(furnish(&fleet, &goes)).await;
        let (other_session, other_key) = Box::pin(furnish(&fleet, &stays)).await;
        let pool = PgPool::connect(&place.database).await.unwrap();
        let id = |name: &'static str| {
            let found = sqlx::query_scalar("SELECT id FROM tenant WHERE name = $1").bind(name);
            found.fetch_one(&pool)
        };
        let (id, other_id): (i64, i64) = (id("goes").await.unwrap(), id("stays").await.unwrap());
        sqlx::raw_sql("CREATE TABLE was AS SELECT id, tenant AS of FROM session")
            .execute(&pool)
            .await
            .unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DELETE FROM was WHERE of <> {id}")))
            .execute(&pool)
            .await
            .unwrap();
        // No pictures had to be prepared.
        sqlx::raw_sql("INSERT INTO made SELECT id, 1, '', NULL, '', 0, 0 FROM session")
            .execute(&pool)
            .await
            .unwrap();
        let before = rows(&place, id).await;
        assert!(before.values().filter(|count| **count > 0).count() >= 16, "{before:?}");
        let objects = fleet.bucket.list("").await.unwrap();
        let is_its = |object: &&String| {
            object.starts_with(&format!("t/{id}/")) || object.starts_with(&format!("kept/{id}/"))
        };
        let its = objects.iter().filter(is_its).count();
        let theirs = contract::existing(&fleet.store(stays.clone())).await.unwrap();

        let forgotten = fleet.forget_tenant_after(&goes, Duration::ZERO).await.unwrap();
        println!("{}: {forgotten:?}", place.server);
        assert_eq!(forgotten.objects, its as u64);
        assert!(forgotten.rows >= 20);
        let after = rows(&place, id).await;
        assert!(after.values().all(|count| *count == 0), "{after:?}");
        let left = fleet.bucket.list("").await.unwrap();
        assert!(left.len() + its == objects.len() && !left.iter().any(|one| is_its(&one)));
        let named: i64 = sqlx::query_scalar("SELECT count(*) FROM tenant WHERE name = 'goes'")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(named, 0);

        // Its key and session are invalid for this replica and others.
        for replica in [&fleet, &place.open().await] {
            assert_eq!(KeyCache::new(replica.record.clone()).tenant(&key).await.unwrap(), None);
            let store = replica.store(goes.clone());
            assert!(store.session(&session).await.is_err());
            assert!(store.blobs.list(None).await.unwrap().is_empty());
        }
        // Others have what they had.
        let still = contract::existing(&fleet.store(stays.clone())).await.unwrap();
        assert_eq!(still, theirs);
        assert!(rows(&place, other_id).await["handle"] > 0);
        assert!(fleet.store(stays.clone()).session(&other_session).await.is_ok());
        let gate = KeyCache::new(fleet.record.clone());
        assert_eq!(gate.tenant(&other_key).await.unwrap(), Some(stays.clone()));

        // The audit ends with one entry, and repeating does nothing.
        let again = fleet.forget_tenant_after(&goes, Duration::ZERO).await.unwrap();
        assert_eq!((again.rows, again.objects), (0, 0));
        let audit = Audit::new(fleet.record.clone());
        let said = audit.export(&goes, 0).await.unwrap();
        assert_eq!((said.len(), &*said[0].what, &*said[0].decision), (1, "forget", "forgotten"));
        assert!(matches!(audit.verify(&goes).await.unwrap(), Verdict::Whole(_)));

        // A new tenant with this name is a different one.
        let new = fleet.record.issue_key(&goes, "new", None).await.unwrap();
        assert_eq!(fleet.record.tenant_of(&new).await.unwrap(), Some(goes.clone()));
        let blob = BlobId::of(&picture(0, 2000));
        let handle = fleet.store(goes.clone()).name(blob.as_bytes()).await.unwrap();
        assert!(fleet.record.resolve(&goes, &handle).await.unwrap().is_none());
        assert_eq!(fleet.record.limits(&goes).await.unwrap(), Limits::default());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_cut_short_is_done_by_the_next_call() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let goes = Tenant::new("goes");
        let (_, key) = Box::pin(furnish(&fleet, &goes)).await;
        let late = place.open().await.store(goes.clone());
        late.begin("let in").await.unwrap();
        let forgetting = fleet.forget_tenant_after(&goes, Duration::from_secs(30));
        let cut = tokio::time::timeout(Duration::from_secs(2), forgetting).await;
        assert!(cut.is_err(), "it waits for those who may be under way");
        // Its keys are gone at once.
        assert_eq!(KeyCache::new(fleet.record.clone()).tenant(&key).await.unwrap(), None);
        assert!(!fleet.bucket.list("t").await.unwrap().is_empty());
        // A replica that cached it may still write; it cannot be created again meanwhile.
        late.begin("under way").await.unwrap();
        assert!(fleet.record.issue_key(&goes, "too early", None).await.is_err());
        let forgotten =
            place.open().await.forget_tenant_after(&goes, Duration::ZERO).await.unwrap();
        assert!(forgotten.rows > 0 && forgotten.objects > 0);
        assert!(fleet.bucket.list("t").await.unwrap().is_empty());
        let pool = PgPool::connect(&place.database).await.unwrap();
        let left = "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM tenant)";
        assert_eq!(sqlx::query_scalar::<_, i64>(left).fetch_one(&pool).await.unwrap(), 0);
        fleet.record.issue_key(&goes, "somebody else", None).await.unwrap();
        assert_eq!(Audit::new(fleet.record).export(&goes, 0).await.unwrap().len(), 1);
    }
}
