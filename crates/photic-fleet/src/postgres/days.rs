//! Days: made ahead, and dropped whole.

use photic_store::Error;

use super::{Answer, Postgres, failed, format};

impl Postgres {
    /// Makes the partitions of days, where they are missing.
    pub(super) async fn open_days(&self, first: i32, last: i32) -> Result<(), Error> {
        let mut transaction = self.begin_transaction().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(format::LOCK)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        sqlx::query(
            "SELECT open_day(number) FROM generate_series($1::integer, $2::integer) AS number",
        )
        .bind(first)
        .bind(last)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    /// Forgets everything of all days before one: sessions that began then, handles that were
    /// issued then and not since, and where blobs of then are. Which days that were.
    ///
    /// Pinned handles stay; see to it first that their blobs do.
    pub(crate) async fn drop_days(&self, before: i32) -> Result<Vec<i32>, Error> {
        let mut transaction = self.begin_transaction().await?;
        // Whoever waits for a table to be dropped makes all others wait behind it. Rather nothing
        // is dropped this time.
        sqlx::raw_sql("SET LOCAL lock_timeout = '3s'")
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        let mut days: Vec<i32> = sqlx::query_scalar("SELECT drop_days($1)")
            .bind(before)
            .fetch_all(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        days.dedup();
        Ok(days)
    }

    /// Every tenant's number.
    pub(crate) async fn owners(&self) -> Result<Vec<i64>, Error> {
        sqlx::query_scalar("SELECT id FROM tenant ORDER BY id")
            .fetch_all(&mut *self.connection().await?)
            .answer()
            .await
    }
}
