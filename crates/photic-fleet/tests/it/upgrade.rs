//! Databases of older and newer versions. A database of format 1, as version 0.1.0 made it, is one of
//! today from which the later formats are taken away: the script of format 1 has not changed since,
//! and what is kept in its tables is written by the code of today.

use photic_fleet::{Postgres, PostgresOptions};
use photic_store::{Error, Tenant, contract};
use sqlx::PgPool;

use crate::servers::place;

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_the_first_format_is_migrated_and_loses_nothing() {
    let Some(place) = place().await else { return };
    let store = place.open().await.store(Tenant::new("old"));
    contract::fresh(&store).await.unwrap();
    let before = contract::existing(&store).await.unwrap();
    drop(store);

    let pool = PgPool::connect(&place.database).await.unwrap();
    let downgrade = "DROP TABLE upload; DROP FUNCTION rows_left(bigint);
        DO $$ BEGIN
            EXECUTE (SELECT 'DROP FUNCTION ' || oid::regprocedure FROM pg_proc
                WHERE proname = 'append_turn' AND pronargs = 38
                    AND pronamespace = current_schema()::regnamespace);
        END $$;
        ALTER TABLE turn DROP COLUMN fates, DROP COLUMN sent, DROP COLUMN arrived;
        DROP TABLE outcome, reply, past_choice;
        DROP SEQUENCE outcome_number, past_choice_number;
        DELETE FROM format WHERE number > 1";
    sqlx::raw_sql(downgrade).execute(&pool).await.unwrap();

    // Two replicas of the new version start at once; one of them migrates.
    let (one, other) = tokio::join!(place.open(), place.open());
    for fleet in [one, other] {
        let store = fleet.store(Tenant::new("old"));
        assert_eq!(contract::existing(&store).await.unwrap(), before);
        // The choices of then are the beginning of the history, and new turns are written whole.
        let sessions = store.sessions().await.unwrap();
        let mut past = 0;
        for session in &sessions {
            let choices = store.choices(&session.id).await.unwrap().len();
            let told = store.past_choices(&session.id).await.unwrap().len();
            assert!(told >= choices);
            past += told;
        }
        assert!(past > 0);
    }
    contract::outcomes(&place.open().await.store(Tenant::new("old"))).await.unwrap();
    let formats: Vec<i32> = sqlx::query_scalar("SELECT number FROM format ORDER BY number")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(formats, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_refused_and_left_as_it_is() {
    let Some(place) = place().await else { return };
    drop(place.open().await);
    let pool = PgPool::connect(&place.database).await.unwrap();
    sqlx::raw_sql("INSERT INTO format VALUES (99)").execute(&pool).await.unwrap();

    let refused = Postgres::open(&place.database, PostgresOptions::default()).await.unwrap_err();
    assert!(matches!(refused, Error::TooNew { found: 99, known: 3 }), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("format 99") && said.contains("up to 3"), "{said}");
    let newest: i32 =
        sqlx::query_scalar("SELECT max(number) FROM format").fetch_one(&pool).await.unwrap();
    assert_eq!(newest, 99);
}
