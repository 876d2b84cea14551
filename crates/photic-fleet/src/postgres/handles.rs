//! Handles of tenants.

use photic_store::{BlobId, Error, Facts, Handle, Handles, IssuedHandle, Secret, Tenant};

use super::{Answer, Postgres, beside_others, failed};

impl Handles for Postgres {
    async fn secret(&self, tenant: &Tenant) -> Result<Secret, Error> {
        Ok(self.owner(tenant).await?.secret)
    }

    async fn issue(&self, tenant: &Tenant, blob: &BlobId, facts: &Facts) -> Result<Handle, Error> {
        let owner = self.owner(tenant).await?;
        let day = self.today().await?;
        let handle = Handle::of(&owner.secret, blob);
        let facts = serde_json::to_string(facts).map_err(|_| Error::Damaged("facts"))?;
        let mut transaction = self.begin_transaction().await?;
        beside_others(&mut transaction, &owner).await?;
        let issued = sqlx::query(concat!(
            "INSERT INTO handle (day, tenant, handle, blob, facts, issued)
             VALUES ($1, $2, $3, $4, $5, ",
            now!(),
            ") ON CONFLICT (day, tenant, handle) DO UPDATE
             SET facts = excluded.facts, issued = excluded.issued
             WHERE handle.blob = excluded.blob",
        ))
        .bind(day)
        .bind(owner.id)
        .bind(handle.as_str())
        .bind(blob.as_bytes())
        .bind(&facts)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        if issued.rows_affected() == 0 {
            return Err(Error::Damaged("two blobs have one handle"));
        }
        sqlx::query("UPDATE pin SET facts = $3 WHERE tenant = $1 AND handle = $2")
            .bind(owner.id)
            .bind(handle.as_str())
            .bind(&facts)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(handle)
    }

    async fn resolve(
        &self,
        tenant: &Tenant,
        handle: &Handle,
    ) -> Result<Option<IssuedHandle>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(None) };
        let found: Option<([u8; 32], String, bool)> = sqlx::query_as(
            "SELECT blob, facts, true FROM pin WHERE tenant = $1 AND handle = $2
             UNION ALL
             (SELECT blob, facts, false FROM handle WHERE tenant = $1 AND handle = $2
                ORDER BY day DESC LIMIT 1)
             LIMIT 1",
        )
        .bind(owner.id)
        .bind(handle.as_str())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        let Some((blob, facts, pinned)) = found else { return Ok(None) };
        let facts = serde_json::from_str(&facts).map_err(|_| Error::Damaged("facts"))?;
        Ok(Some(IssuedHandle { blob: blob.into(), facts, pinned }))
    }

    async fn pin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        self.move_handle(
            tenant,
            handle,
            "INSERT INTO pin (tenant, handle, blob, facts, issued)
             SELECT tenant, handle, blob, facts, issued FROM handle
             WHERE tenant = $1 AND handle = $2 AND day <= $3 ORDER BY day DESC LIMIT 1
             ON CONFLICT DO NOTHING",
        )
        .await
    }

    async fn unpin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        // An unpinned handle belongs to the current day.
        self.move_handle(
            tenant,
            handle,
            "WITH gone AS (DELETE FROM pin WHERE tenant = $1 AND handle = $2 RETURNING *)
             INSERT INTO handle (day, tenant, handle, blob, facts, issued)
             SELECT $3, tenant, handle, blob, facts, issued FROM gone
             ON CONFLICT DO NOTHING",
        )
        .await
    }
}

impl Postgres {
    /// Returns the secret of a tenant if it exists. Unlike [`Handles::secret`], it does not create
    /// the tenant.
    pub async fn known_secret(&self, tenant: &Tenant) -> Result<Option<Secret>, Error> {
        Ok(self.find_owner(tenant).await?.map(|owner| owner.secret))
    }

    /// Runs a statement that pins or unpins a handle. Returns `true` if the handle exists.
    async fn move_handle(
        &self,
        tenant: &Tenant,
        handle: &Handle,
        statement: &'static str,
    ) -> Result<bool, Error> {
        if self.resolve(tenant, handle).await?.is_none() {
            return Ok(false);
        }
        let owner = self.owner(tenant).await?;
        let day = self.today().await?;
        let mut transaction = self.begin_transaction().await?;
        beside_others(&mut transaction, &owner).await?;
        sqlx::query(statement)
            .bind(owner.id)
            .bind(handle.as_str())
            .bind(day)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(true)
    }
}
