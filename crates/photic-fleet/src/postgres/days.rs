//! Partitions by day: created ahead, and dropped whole.

use photic_store::Error;

use super::{Answer, Postgres, failed, format};

impl Postgres {
    /// Creates the missing partitions of days.
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

    /// Drops all days before one: sessions that began then, handles not issued since, and locations
    /// of blobs. Returns the dropped days.
    ///
    /// Pinned handles stay; their blobs must be copied first.
    pub(crate) async fn drop_days(&self, before: i32) -> Result<Vec<i32>, Error> {
        let mut transaction = self.begin_transaction().await?;
        // Waiting for the lock of a table would make all others wait behind it, so this gives up
        // early instead.
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

    /// Returns the numbers of all tenants.
    pub(crate) async fn owners(&self) -> Result<Vec<i64>, Error> {
        sqlx::query_scalar("SELECT id FROM tenant ORDER BY id")
            .fetch_all(&mut *self.connection().await?)
            .answer()
            .await
    }
}
