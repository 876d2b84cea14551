//! Quotas: three replicas together never admit more than allowed, and hardly less.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use photic_fleet::{
    InFlightGuard, Limits, Postgres, PostgresOptions, QuotaExceeded, QuotaKind, QuotaOptions,
    QuotaRequest, Quotas,
};
use photic_store::contract::picture;
use photic_store::{Blobs as _, Tenant};

use crate::servers::{TestFleet, place};

/// Generous timeouts, so that a busy machine does not look like an unavailable database.
const PATIENT: QuotaOptions = QuotaOptions {
    defaults: Limits {
        requests_per_minute: None,
        bytes_in_flight: None,
        megapixels_per_minute: None,
        stored_bytes: None,
    },
    replicas: 3,
    patience: Duration::from_secs(20),
    lease: Duration::from_secs(15),
};

async fn replica(place: &TestFleet, options: QuotaOptions) -> Quotas {
    let patient = PostgresOptions { connections: 4, patience: Duration::from_secs(20) };
    let record = Postgres::open(&place.database, patient).await.unwrap();
    Quotas::new(record, options).unwrap()
}

async fn replicas(place: &TestFleet, options: QuotaOptions) -> Vec<Quotas> {
    let mut replicas = Vec::new();
    for _ in 0..3 {
        replicas.push(replica(place, options).await);
    }
    replicas
}

fn one() -> QuotaRequest {
    QuotaRequest { requests: 1, bytes: 0 }
}

/// Waits until this much of a minute is left. The servers run on this machine and share its clock.
async fn early_in_a_minute(left: Duration) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let until_next = Duration::from_secs(60 - now.as_secs() % 60);
    if until_next < left {
        tokio::time::sleep(until_next).await;
    }
}

/// Counts how often shares are taken and bytes claimed.
async fn count_statements(place: &TestFleet) {
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    sqlx::raw_sql(
        "CREATE SEQUENCE counted;
         CREATE FUNCTION count_it() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM nextval('counted'); RETURN NULL; END $$;
         CREATE TRIGGER count_it BEFORE INSERT ON taken EXECUTE FUNCTION count_it();
         CREATE TRIGGER count_it BEFORE INSERT ON claim EXECUTE FUNCTION count_it();",
    )
    .execute(&pool)
    .await
    .unwrap();
}

async fn statements(place: &TestFleet) -> i64 {
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    sqlx::query_scalar("SELECT last_value FROM counted").fetch_one(&pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_replicas_let_in_what_a_minute_allows_and_no_more() {
    let Some(place) = place().await else { return };
    let limits = Limits { requests_per_minute: Some(600), ..Limits::default() };
    let replicas = replicas(&place, QuotaOptions { defaults: limits, ..PATIENT }).await;
    count_statements(&place).await;
    early_in_a_minute(Duration::from_secs(20)).await;
    let admitted = Arc::new(AtomicU64::new(0));
    let mut hammering = Vec::new();
    for quotas in &replicas {
        for _ in 0..8 {
            let (quotas, admitted) = (quotas.clone(), admitted.clone());
            hammering.push(tokio::spawn(async move {
                let tenant = Tenant::new("busy");
                for _ in 0..100 {
                    match quotas.admit(&tenant, one()).await {
                        Ok(guard) => drop(guard),
                        Err(over) => {
                            assert_eq!(over.what, QuotaKind::Requests);
                            assert!(over.retry_after.unwrap() <= Duration::from_mins(1));
                            continue;
                        }
                    }
                    admitted.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            }));
        }
    }
    for one in hammering {
        one.await.unwrap();
    }
    assert_eq!(admitted.load(Ordering::Relaxed), 600, "2,400 tried");
    // Another tenant has its own minute.
    assert!(replicas[0].admit(&Tenant::new("other"), one()).await.is_ok());
    assert!(!replicas.iter().any(Quotas::is_alone));
    let statements = statements(&place).await;
    println!("2,400 requests, {statements} statements");
    assert!((20..150).contains(&statements), "{statements}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn amounts_of_any_size_never_add_up_to_more_than_is_allowed() {
    let Some(place) = place().await else { return };
    let limits = Limits { megapixels_per_minute: Some(50), ..Limits::default() };
    let replicas = replicas(&place, QuotaOptions { defaults: limits, ..PATIENT }).await;
    for round in 0..6_u64 {
        early_in_a_minute(Duration::from_secs(15)).await;
        let tenant = Tenant::new(format!("round {round}"));
        let spent = Arc::new(AtomicU64::new(0));
        let mut hammering = Vec::new();
        for (number, quotas) in (0_u64..).zip(replicas.iter().cycle().take(9)) {
            let (quotas, spent, tenant) = (quotas.clone(), spent.clone(), tenant.clone());
            hammering.push(tokio::spawn(async move {
                let mut random = round * 1000 + number;
                for _ in 0..60 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let pixels = 1 + (random >> 33) % 3_000_000;
                    if quotas.spend_pixels(&tenant, pixels).await.is_ok() {
                        spent.fetch_add(pixels, Ordering::Relaxed);
                    }
                }
            }));
        }
        for one in hammering {
            one.await.unwrap();
        }
        let spent = spent.load(Ordering::Relaxed);
        assert!((45_000_000..=50_000_000).contains(&spent), "{spent}");
        // A request that exceeds the limit by itself has no retry time.
        let over = replicas[0].spend_pixels(&tenant, 50_000_001).await;
        assert_eq!(over, Err(QuotaExceeded { what: QuotaKind::Megapixels, retry_after: None }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_new_minute_is_a_new_allowance() {
    let Some(place) = place().await else { return };
    let limits = Limits { requests_per_minute: Some(40), ..Limits::default() };
    let quotas = replica(&place, QuotaOptions { defaults: limits, ..PATIENT }).await;
    let tenant = Tenant::new("next");
    // Into the last seconds of a minute, with part of a share unspent.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let left = 60 - now.as_secs() % 60;
    tokio::time::sleep(Duration::from_secs(left.saturating_sub(3))).await;
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    // As if others had spent most of the minute.
    for _ in 0..3 {
        assert!(quotas.admit(&tenant, one()).await.is_ok());
    }
    sqlx::raw_sql("UPDATE taken SET used = 39").execute(&pool).await.unwrap();
    let mut admitted = 0;
    let over = loop {
        match quotas.admit(&tenant, one()).await {
            Ok(_) => admitted += 1,
            Err(over) => break over,
        }
    };
    assert!(admitted <= 2, "{admitted}");
    tokio::time::sleep(over.retry_after.unwrap() + Duration::from_millis(500)).await;
    let admitted = admit_until_over(&quotas, &tenant).await;
    assert_eq!(admitted, 40);
}

async fn admit_until_over(quotas: &Quotas, tenant: &Tenant) -> u64 {
    let mut admitted = 0;
    while quotas.admit(tenant, one()).await.is_ok() {
        admitted += 1;
        assert!(admitted < 1000, "there is no end to it");
    }
    admitted
}

/// Holds as many bytes as it gets.
async fn hold_all(quotas: &Quotas, tenant: &Tenant, bytes: u64) -> Vec<InFlightGuard> {
    let mut held = Vec::new();
    while let Ok(guard) = quotas.admit(tenant, QuotaRequest { requests: 1, bytes }).await {
        held.push(guard);
        assert!(held.len() < 10_000, "there is no end to it");
    }
    held
}

/// Holds bytes as soon as they are free.
async fn soon(quotas: &Quotas, tenant: &Tenant, bytes: u64) -> InFlightGuard {
    let begun = Instant::now();
    loop {
        match quotas.admit(tenant, QuotaRequest { requests: 1, bytes }).await {
            Ok(guard) => return guard,
            Err(over) => assert!(begun.elapsed() < Duration::from_mins(1), "{over:?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn bytes_in_flight_are_never_more_than_allowed_and_come_back() {
    let Some(place) = place().await else { return };
    let limits = Limits { bytes_in_flight: Some(1_000_000), ..Limits::default() };
    let lease = Duration::from_secs(3);
    let options = QuotaOptions { defaults: limits, lease, ..PATIENT };
    let mut replicas = replicas(&place, options).await;
    count_statements(&place).await;
    let tenant = Tenant::new("in flight");
    for round in 0..3 {
        let mut holding = Vec::new();
        for (quotas, bytes) in replicas.iter().cloned().zip([7_000, 1_100, 23_000]) {
            let tenant = tenant.clone();
            holding.push(tokio::spawn(async move {
                let held = hold_all(&quotas, &tenant, bytes).await;
                (held.len() as u64 * bytes, held)
            }));
        }
        let (mut sum, mut all) = (0, Vec::new());
        for held in holding {
            let (bytes, held) = held.await.unwrap();
            sum += bytes;
            all.extend(held);
        }
        assert!((900_000..=1_000_000).contains(&sum), "round {round}: {sum}");
        // Dropped without waiting, and free for any replica a moment later.
        let begun = Instant::now();
        drop(all);
        assert!(begun.elapsed() < Duration::from_secs(5));
        drop(soon(&replicas[round], &tenant, 1_000_000).await);
    }

    // The body may be returned while a part of the request stays.
    let mut guard = soon(&replicas[0], &tenant, 1_000_000).await;
    let over =
        replicas[1].admit(&tenant, QuotaRequest { requests: 1, bytes: 990_000 }).await.unwrap_err();
    assert_eq!(over.what, QuotaKind::BytesInFlight);
    guard.keep(1_000);
    let other = soon(&replicas[1], &tenant, 900_000).await;
    drop((guard, other));
    drop(soon(&replicas[0], &tenant, 1_000_000).await);

    // A replica that disappears with all its bytes in flight.
    let gone = replicas.remove(0);
    let held = hold_all(&gone, &tenant, 10_000).await;
    assert!(held.len() >= 90);
    std::mem::forget(held);
    drop(gone);
    assert!(
        replicas[0].admit(&tenant, QuotaRequest { requests: 1, bytes: 500_000 }).await.is_err()
    );
    tokio::time::sleep(lease / 2).await;
    assert!(
        replicas[0].admit(&tenant, QuotaRequest { requests: 1, bytes: 500_000 }).await.is_err()
    );
    soon(&replicas[0], &tenant, 1_000_000).await;

    let statements = statements(&place).await;
    println!("some 2,000 requests, {statements} statements");
    assert!(statements < 400, "{statements}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_a_tenant_are_known_to_all_replicas() {
    let Some(place) = place().await else { return };
    let record = place.open().await.record;
    let defaults = Limits { requests_per_minute: Some(5), ..Limits::default() };
    let quotas = replica(&place, QuotaOptions { defaults, ..PATIENT }).await;
    let (small, large) = (Tenant::new("small"), Tenant::new("large"));
    let own = Limits { requests_per_minute: Some(50), stored_bytes: Some(7), ..Limits::default() };
    record.set_limits(&large, &own).await.unwrap();
    assert_eq!(record.limits(&large).await.unwrap(), own);
    assert_eq!(record.limits(&small).await.unwrap(), Limits::default());
    assert_eq!((quotas.limits(&small).await, quotas.limits(&large).await), (defaults, own));
    early_in_a_minute(Duration::from_secs(15)).await;
    assert_eq!(admit_until_over(&quotas, &small).await, 5);
    assert_eq!(admit_until_over(&quotas, &large).await, 50);
    // Another replica has no limits or others, and counts the same requests.
    record.set_limits(&large, &Limits { requests_per_minute: Some(60), ..own }).await.unwrap();
    let second = replica(&place, QuotaOptions { defaults, ..PATIENT }).await;
    assert_eq!(admit_until_over(&second, &large).await, 10);
    assert_eq!(admit_until_over(&second, &small).await, 0);
    // Back to the default.
    record.set_limits(&large, &Limits::default()).await.unwrap();
    let third = replica(&place, QuotaOptions { defaults, ..PATIENT }).await;
    assert_eq!(third.limits(&large).await, defaults);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_is_summed_and_what_is_too_much_refused() {
    let Some(place) = place().await else { return };
    let fleet = place.open().await;
    let defaults = Limits { stored_bytes: Some(10_000), ..Limits::default() };
    let (ours, theirs) = (Tenant::new("ours"), Tenant::new("theirs"));
    fleet.store(ours.clone()).blobs.put(&picture(1, 4_000)).await.unwrap();
    fleet.store(ours.clone()).blobs.put(&picture(1, 4_000)).await.unwrap();
    fleet.store(theirs.clone()).blobs.put(&picture(1, 4_000)).await.unwrap();
    let quotas = replica(&place, QuotaOptions { defaults, ..PATIENT }).await;
    assert_eq!(quotas.stored(&ours).await.unwrap(), 4_000);
    assert_eq!(quotas.stored(&Tenant::new("nobody")).await.unwrap(), 0);
    quotas.store(&ours, 5_000).await.unwrap();
    // Not stored yet, and counted.
    let over = quotas.store(&ours, 1_001).await.unwrap_err();
    assert!(over.what == QuotaKind::StoredBytes && over.retry_after.is_some(), "{over:?}");
    quotas.store(&ours, 1_000).await.unwrap();
    assert_eq!(quotas.store(&ours, 10_001).await.unwrap_err().retry_after, None);
    quotas.store(&theirs, 6_000).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_every_replica_has_its_part_and_nothing_is_stored() {
    let Some(place) = place().await else { return };
    let limits = Limits {
        requests_per_minute: Some(90),
        bytes_in_flight: Some(9_000),
        megapixels_per_minute: Some(9),
        stored_bytes: Some(1_000_000),
    };
    let patience = Duration::from_millis(400);
    let lease = Duration::from_secs(2);
    let options = QuotaOptions { defaults: limits, patience, lease, ..PATIENT };
    let replicas = replicas(&place, options).await;
    let tenant = Tenant::new("alone");
    // They know each other, and the tenant's quota is untouched.
    tokio::time::sleep(Duration::from_millis(700)).await;
    early_in_a_minute(Duration::from_secs(20)).await;
    let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
    // The worst case for connected clients: no statement ends.
    let mut blocking = pool.begin().await.unwrap();
    sqlx::raw_sql("LOCK taken, claim, replica, tenant_limits, tenant, blob")
        .execute(&mut *blocking)
        .await
        .unwrap();
    let begun = Instant::now();
    for quotas in &replicas {
        assert_eq!(admit_until_over(quotas, &tenant).await, 30);
        let held = hold_all(quotas, &Tenant::new("held"), 500).await;
        assert_eq!(held.len(), 6);
        assert!(quotas.spend_pixels(&tenant, 3_000_001).await.is_err());
        quotas.spend_pixels(&tenant, 3_000_000).await.unwrap();
        assert!(quotas.store(&tenant, 1).await.is_err());
        assert!(quotas.is_alone());
    }
    println!("three replicas without a database: {:?}", begun.elapsed());
    // Waiting for each statement would take many minutes, here and below.
    assert!(begun.elapsed() < Duration::from_mins(1));
    // One request in a second pays for seeing whether it is back.
    let begun = Instant::now();
    for _ in 0..1000 {
        let _ = replicas[0].admit(&tenant, one()).await;
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    drop(blocking);
    pool.close().await;
    // It is back, and so is everything.
    let begun = Instant::now();
    for quotas in &replicas {
        while quotas.admit(&Tenant::new("later"), one()).await.is_err()
            || quotas.store(&tenant, 1).await.is_err()
            || quotas.is_alone()
        {
            assert!(begun.elapsed() < Duration::from_mins(1), "it is still alone");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
