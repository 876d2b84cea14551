//! Database part of forgetting a tenant: its name first, then all rows of its number.

use std::time::Duration;

use photic_store::{Error, Tenant};

use super::{Answer as _, Postgres, TENANTS, failed};

/// A tenant whose name is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosedTenant {
    /// Its number in the bucket and in all tables.
    pub(crate) id: i64,
    /// Time since its name was deleted.
    pub(crate) age: Duration,
}

impl Postgres {
    /// Deletes the name and keys of a tenant, so that no request can use them. Returns all tenants
    /// that had this name, including those whose forgetting was interrupted.
    pub(crate) async fn close_tenant(&self, tenant: &Tenant) -> Result<Vec<ClosedTenant>, Error> {
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
        let closed = closed.into_iter().map(|(id, age)| ClosedTenant {
            id,
            age: Duration::from_millis(age.max(0).cast_unsigned()),
        });
        Ok(closed.collect())
    }

    /// Deletes every row of a tenant without a name. Returns their number.
    pub(crate) async fn remove_rows(&self, closed: &ClosedTenant) -> Result<u64, Error> {
        let mut transaction = self.begin_transaction().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(TENANTS + closed.id)
            .execute(&mut *transaction)
            .answer()
            .await?;
        // No timeout: the duration depends on the number of rows.
        let rows: i64 = sqlx::query_scalar("SELECT remove_rows($1)")
            .bind(closed.id)
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().answer().await?;
        Ok(rows as u64)
    }

    /// Counts the remaining rows of a tenant by table. Empty tables are left out.
    pub(crate) async fn rows_left(
        &self,
        closed: &ClosedTenant,
    ) -> Result<Vec<(String, i64)>, Error> {
        sqlx::query_as("SELECT name, count FROM rows_left($1)")
            .bind(closed.id)
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(failed)
    }

    /// Records that a tenant is completely forgotten.
    pub(crate) async fn forgot(&self, closed: &ClosedTenant) -> Result<(), Error> {
        sqlx::query("DELETE FROM forgotten WHERE id = $1")
            .bind(closed.id)
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(())
    }
}
