//! What the database does when a tenant is forgotten: its name goes first, then all under its number.

use std::time::Duration;

use photic_store::{Error, Tenant};

use super::{Answer as _, Postgres, TENANTS, failed};

/// A tenant without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// What it was called in the bucket, and in all tables.
    pub(crate) id: i64,
    /// For how long it has had no name.
    pub(crate) age: Duration,
}

impl Postgres {
    /// Takes a tenant's name and keys away, so that nobody can come in as it; what that name stood
    /// for, now or when forgetting it was cut short.
    pub(crate) async fn close_tenant(&self, tenant: &Tenant) -> Result<Vec<Closed>, Error> {
        let mut transaction = self.begin_transaction().await?;
        for statement in [
            concat!(
                "WITH gone AS (DELETE FROM tenant WHERE name = $1 RETURNING id)
                 INSERT INTO forgotten (id, name, since) SELECT id, $1, ",
                now!(),
                " FROM gone",
            ),
            "DELETE FROM api_key WHERE tenant IN (SELECT id FROM forgotten WHERE name = $1)",
        ] {
            let query = sqlx::query(statement).bind(tenant.as_str());
            query.execute(&mut *transaction).answer().await?;
        }
        let closed: Vec<(i64, i64)> = sqlx::query_as(concat!(
            "SELECT id, ",
            now!(),
            " - since FROM forgotten WHERE name = $1 ORDER BY id",
        ))
        .bind(tenant.as_str())
        .fetch_all(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await?;
        self.tenants().remove(tenant);
        let closed = closed
            .into_iter()
            .map(|(id, age)| Closed { id, age: Duration::from_millis(age.max(0).cast_unsigned()) });
        Ok(closed.collect())
    }

    /// Removes every row of a tenant that has no name any more; how many there were.
    pub(crate) async fn remove_rows(&self, closed: &Closed) -> Result<u64, Error> {
        let mut transaction = self.begin_transaction().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(TENANTS + closed.id)
            .execute(&mut *transaction)
            .answer()
            .await?;
        // Nobody waits for it, and it takes as long as there are rows.
        let rows: i64 = sqlx::query_scalar("SELECT remove_rows($1)")
            .bind(closed.id)
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().answer().await?;
        Ok(rows as u64)
    }

    /// How many rows are left of a tenant, by table; tables that have none are left out.
    pub(crate) async fn rows_left(&self, closed: &Closed) -> Result<Vec<(String, i64)>, Error> {
        sqlx::query_as("SELECT name, count FROM rows_left($1)")
            .bind(closed.id)
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(failed)
    }

    /// Notes that nothing is left of it.
    pub(crate) async fn forgot(&self, closed: &Closed) -> Result<(), Error> {
        sqlx::query("DELETE FROM forgotten WHERE id = $1")
            .bind(closed.id)
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(())
    }
}
