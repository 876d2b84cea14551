//! Database migrations. The first replica migrates the database from any earlier format to the
//! newest.

use photic_store::Error;
use sqlx::PgPool;

use super::failed;

/// Scripts that lead from each format to the next.
const MIGRATIONS: [&str; 3] =
    [include_str!("format-1.sql"), include_str!("format-2.sql"), include_str!("format-3.sql")];

/// Lock number that all replicas use for migrations.
pub(super) const LOCK: i64 = 0x7068_6f74_6963;

/// Creates or migrates the tables.
pub(super) async fn make(pool: &PgPool) -> Result<(), Error> {
    let mut transaction = pool.begin().await.map_err(failed)?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS format (number integer NOT NULL)")
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    let found: Option<i32> = sqlx::query_scalar("SELECT max(number) FROM format")
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    let found = usize::try_from(found.unwrap_or_default()).unwrap_or_default();
    if found > MIGRATIONS.len() {
        return Err(Error::TooNew { found: found as u32, known: MIGRATIONS.len() as u32 });
    }
    for (number, step) in (1_i32..).zip(MIGRATIONS).skip(found) {
        sqlx::raw_sql(step).execute(&mut *transaction).await.map_err(failed)?;
        sqlx::query("INSERT INTO format (number) VALUES ($1)")
            .bind(number)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}
