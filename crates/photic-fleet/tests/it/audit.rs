//! The audit: one chain per tenant with any number of writers, and every manipulation is found.

use std::collections::BTreeSet;

use photic_fleet::{ApiKey, Audit, AuditAction, Entry, Row, Subject, Verdict, Verified};
use photic_store::Tenant;
use sqlx::PgPool;

use crate::servers::{TestFleet, place};

fn entry(host: &str, bytes: u64) -> Entry {
    Entry {
        key: None,
        what: AuditAction::Fetch,
        subject: Subject::host(host).unwrap(),
        decision: "fetched",
        bytes_in: bytes,
        bytes_out: 0,
    }
}

async fn all(audit: &Audit, tenant: &Tenant) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = audit.export(tenant, rows.last().map_or(0, |row| row.number)).await.unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page);
    }
}

async fn whole(audit: &Audit, tenant: &Tenant) -> Verified {
    let verdict = audit.verify(tenant).await.unwrap();
    let Verdict::Whole(verified) = verdict else { panic!("{tenant:?}: {verdict:?}") };
    verified
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_replicas_write_one_chain_and_many_entries_cost_one_commit() {
    let Some(place) = place().await else { return };
    let tenants = [Tenant::new("one"), Tenant::new("two")];
    let mut writing = Vec::new();
    for replica in 0..3 {
        let audit = Audit::new(place.open().await.record);
        for caller in 0..8 {
            let (audit, tenants) = (audit.clone(), tenants.clone());
            writing.push(tokio::spawn(async move {
                for round in 0..25_u64 {
                    let host = format!("h{replica}-{caller}");
                    let pair = vec![entry(&host, 2 * round), entry(&host, 2 * round + 1)];
                    audit.write(&tenants[caller % 2], pair).await.unwrap();
                }
            }));
        }
    }
    for one in writing {
        one.await.unwrap();
    }
    let audit = Audit::new(place.open().await.record);
    for tenant in &tenants {
        let verified = whole(&audit, tenant).await;
        assert_eq!((verified.rows, verified.first, verified.last), (600, 1, 600));
        let rows = all(&audit, tenant).await;
        assert_eq!(rows.last().unwrap().hash, verified.hash);
        // The entries of a caller are adjacent, in order, and without duplicates.
        let said: BTreeSet<(&str, u64)> =
            rows.iter().map(|row| (&*row.subject, row.bytes_in)).collect();
        assert_eq!(said.len(), 600);
        for pair in rows.chunks(2) {
            assert_eq!(
                (&pair[0].subject, pair[0].bytes_in + 1),
                (&pair[1].subject, pair[1].bytes_in)
            );
        }
        assert!(rows.is_sorted_by_key(|row| row.time));
    }
    let pool = PgPool::connect(&place.database).await.unwrap();
    let commits: i64 = sqlx::query_scalar("SELECT count(DISTINCT xmin::text) FROM audit")
        .fetch_one(&pool)
        .await
        .unwrap();
    println!("600 writes of 2 entries: {commits} commits");
    assert!((1..=400).contains(&commits), "{commits}");
}

/// Manipulations of a tenant's rows, and the first row at which each is found.
const TAMPERING: [(&str, u64); 13] = [
    ("UPDATE audit SET bytes_out = 1 WHERE tenant = $1 AND number = 4", 4),
    ("UPDATE audit SET decision = 'nothing' WHERE tenant = $1 AND number = 1", 1),
    ("UPDATE audit SET time = time - 1 WHERE tenant = $1 AND number = 7", 7),
    ("UPDATE audit SET key_id = '0123456789ab' WHERE tenant = $1 AND number = 2", 2),
    ("UPDATE audit SET hash = '' WHERE tenant = $1 AND number = 3", 3),
    ("UPDATE audit SET previous = '' WHERE tenant = $1 AND number = 1", 1),
    ("DELETE FROM audit WHERE tenant = $1 AND number = 5", 5),
    ("DELETE FROM audit WHERE tenant = $1 AND number = 1", 1),
    ("DELETE FROM audit WHERE tenant = $1 AND number >= 6", 6),
    ("DELETE FROM audit WHERE tenant = $1", 1),
    // Two rows are swapped with their hashes.
    ("UPDATE audit SET number = 9 - number WHERE tenant = $1 AND number IN (4, 5)", 4),
    // A foreign row is appended.
    (
        "INSERT INTO audit SELECT day, $1, 8, time, key_id, what, subject, decision, bytes_in,
            bytes_out, previous, hash FROM audit WHERE tenant = 'witness' AND number = 7",
        8,
    ),
    // The head is set back, so that the last row is superfluous.
    ("UPDATE audit_head SET number = 6 WHERE tenant = $1", 6),
];

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_done_behind_our_back_is_found_where_it_was_done() {
    let Some(place) = place().await else { return };
    let audit = Audit::new(place.open().await.record);
    let witness = Tenant::new("witness");
    let entries = || (0..7).map(|bytes| entry("example.org", bytes)).collect::<Vec<_>>();
    audit.write(&witness, entries()).await.unwrap();
    let pool = PgPool::connect(&place.database).await.unwrap();
    // Swapping rows in one statement would violate a constraint for a moment.
    sqlx::raw_sql("ALTER TABLE audit DROP CONSTRAINT audit_pkey").execute(&pool).await.unwrap();
    for (number, (tampering, at)) in TAMPERING.into_iter().enumerate() {
        let tenant = Tenant::new(format!("victim {number}"));
        audit.write(&tenant, entries()[..3].to_vec()).await.unwrap();
        audit.write(&tenant, entries()[3..].to_vec()).await.unwrap();
        assert_eq!(whole(&audit, &tenant).await.rows, 7);
        let mut connection = pool.acquire().await.unwrap();
        // By default the database refuses.
        let refused = sqlx::query(tampering).bind(tenant.as_str()).execute(&mut *connection).await;
        let is_about_rows = tampering.starts_with("UPDATE audit SET")
            || tampering.starts_with("DELETE FROM audit WHERE");
        if is_about_rows {
            assert!(refused.unwrap_err().to_string().contains("never changed"));
            assert_eq!(whole(&audit, &tenant).await.rows, 7);
            sqlx::raw_sql("SET session_replication_role = replica")
                .execute(&mut *connection)
                .await
                .unwrap();
            let done = sqlx::query(tampering).bind(tenant.as_str()).execute(&mut *connection).await;
            assert!(done.unwrap().rows_affected() > 0);
            sqlx::raw_sql("RESET session_replication_role")
                .execute(&mut *connection)
                .await
                .unwrap();
        } else {
            refused.unwrap();
        }
        assert_eq!(audit.verify(&tenant).await.unwrap(), Verdict::Broken { at }, "{tampering}");
        // Other tenants are not affected.
        assert_eq!(whole(&audit, &witness).await.rows, 7);
    }
    for refused in ["TRUNCATE audit", "DELETE FROM audit", "UPDATE audit SET what = 'fix'"] {
        let refused = sqlx::raw_sql(refused).execute(&pool).await.unwrap_err();
        assert!(refused.to_string().contains("never changed"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn days_go_and_what_is_left_is_whole() {
    let Some(place) = place().await else { return };
    let fleet = place.open().await;
    let late = place.open().await;
    let audit = Audit::new(fleet.record.clone());
    let (busy, idle) = (Tenant::new("busy"), Tenant::new("idle"));
    audit.write(&idle, vec![entry("idle.example", 0)]).await.unwrap();
    for day in 0..4 {
        audit.write(&busy, vec![entry("a.example", day), entry("b.example", day)]).await.unwrap();
        if day == 1 {
            // A replica with an old day does not write into yesterday.
            Audit::new(late.record.clone())
                .write(&busy, vec![entry("late.example", day)])
                .await
                .unwrap();
        }
        fleet.record.pretend_later(1);
    }
    let before = whole(&audit, &busy).await;
    assert_eq!((before.rows, before.first, before.last), (9, 1, 9));
    let days: Vec<i32> = all(&audit, &busy).await.iter().map(|row| row.day).collect();
    assert!(days.is_sorted() && days[4] == days[3], "{days:?}");

    // Today is the fifth day; the first two are dropped.
    assert_eq!(fleet.retire(2).await.unwrap().days.len(), 2);
    let left = whole(&audit, &busy).await;
    assert_eq!((left.rows, left.first, left.last, left.hash), (4, 6, 9, before.hash));
    let gone = whole(&audit, &idle).await;
    assert_eq!((gone.rows, gone.first, gone.last), (0, 2, 1));
    // The chain continues where it was.
    for tenant in [&busy, &idle] {
        audit.write(tenant, vec![entry("c.example", 9)]).await.unwrap();
    }
    assert_eq!((whole(&audit, &busy).await.last, whole(&audit, &idle).await.last), (10, 2));

    // The first remaining row cannot be removed unnoticed, either.
    let pool = PgPool::connect(&place.database).await.unwrap();
    let mut connection = pool.acquire().await.unwrap();
    sqlx::raw_sql(
        "SET session_replication_role = replica;
         DELETE FROM audit WHERE tenant = 'busy' AND number = 6;
         RESET session_replication_role",
    )
    .execute(&mut *connection)
    .await
    .unwrap();
    assert_eq!(audit.verify(&busy).await.unwrap(), Verdict::Broken { at: 6 });
    assert_eq!(whole(&audit, &idle).await.rows, 1);
    assert_eq!(whole(&audit, &Tenant::new("nobody")).await.rows, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_that_cannot_be_written_is_said_to_all_who_wait() {
    let Some(place) = place().await else { return };
    let audit = Audit::new(place.open().await.record);
    let pool = PgPool::connect(&place.database).await.unwrap();
    sqlx::raw_sql("ALTER TABLE audit_head RENAME TO elsewhere").execute(&pool).await.unwrap();
    let tenant = Tenant::new("unwritten");
    let writing = (0..6).map(|_| {
        let (audit, tenant) = (audit.clone(), tenant.clone());
        tokio::spawn(async move { audit.write(&tenant, vec![entry("a.example", 1)]).await })
    });
    for written in writing.collect::<Vec<_>>() {
        assert!(written.await.unwrap().is_err());
    }
    // A caller that stops waiting does not stop the others or the writing.
    sqlx::raw_sql("ALTER TABLE elsewhere RENAME TO audit_head").execute(&pool).await.unwrap();
    let impatient = audit.write(&tenant, vec![entry("b.example", 1)]);
    let waited = tokio::time::timeout(std::time::Duration::ZERO, impatient).await;
    assert!(waited.is_err());
    audit.write(&tenant, vec![entry("c.example", 1)]).await.unwrap();
    assert_eq!(whole(&audit, &tenant).await.rows, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_who_and_what_and_holds_no_secret() {
    let Some(place) = place().await else { return };
    let audit = Audit::new(place.open().await.record);
    let tenant = Tenant::new("said");
    let key = ApiKey::random().unwrap();
    let entry = Entry {
        key: Some(key.id().clone()),
        what: AuditAction::Key,
        subject: key.id().into(),
        decision: "rotated",
        bytes_in: u64::MAX,
        bytes_out: 3,
    };
    audit.write(&tenant, vec![entry]).await.unwrap();
    let rows = all(&audit, &tenant).await;
    let json = serde_json::to_value(&rows[0]).unwrap();
    let id = key.id().as_str();
    assert_eq!(
        (&json["key_id"], &json["what"], &json["bytes_out"]),
        (&id.into(), &"key".into(), &3.into())
    );
    assert_eq!(json["subject"], format!("key:{id}"));
    assert_eq!(json["previous"], "0".repeat(64));
    assert!(json["hash"].as_str().unwrap().len() == 64);
    assert!(!json.to_string().contains(&key.reveal()[16..]));
    assert_eq!(whole(&audit, &tenant).await.rows, 1);
    stays_within(&place).await;
}

/// The database contains what was given, and no column contains more.
async fn stays_within(place: &TestFleet) {
    let pool = PgPool::connect(&place.database).await.unwrap();
    let columns: Vec<String> = sqlx::query_scalar(
        "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'audit'
         ORDER BY ordinal_position",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let known =
        "day tenant number time key_id what subject decision bytes_in bytes_out previous hash";
    assert_eq!(columns.join(" "), known);
}
