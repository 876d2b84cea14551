//! Expected uploads: their sizes and lifetimes.

use std::time::Duration;

use photic_store::{Error, Tenant};

use super::{Answer as _, Postgres, alone, failed};

/// Largest number of expected uploads of a tenant.
const MAX_UPLOADS: i64 = 256;
/// Time after its expiry during which an upload may still be running: servers check the time when
/// it begins.
const MAX_UPLOAD_TIME: Duration = Duration::from_mins(15);

/// An expired upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExpiredUpload {
    /// The number of its tenant.
    pub(crate) owner: i64,
    /// Its name.
    pub(crate) name: String,
}

impl Postgres {
    /// Registers an upload of this size. Returns false if too many are expected already.
    pub(crate) async fn expect_upload(
        &self,
        tenant: &Tenant,
        name: &str,
        bytes: u64,
        lasting: Duration,
    ) -> Result<bool, Error> {
        let owner = self.owner(tenant).await?;
        let mut transaction = self.begin_transaction().await?;
        alone(&mut transaction, &owner).await?;
        let added = sqlx::query(concat!(
            "INSERT INTO upload (tenant, name, bytes, expires) SELECT $1, $2, $3, $4 + ",
            now!(),
            " WHERE (SELECT count(*) FROM upload WHERE tenant = $1 AND NOT is_done) < $5",
        ))
        .bind(owner.id)
        .bind(name)
        .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
        .bind(i64::try_from(lasting.as_millis()).unwrap_or(i64::MAX / 4))
        .bind(MAX_UPLOADS)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().answer().await?;
        Ok(added.rows_affected() == 1)
    }

    /// Returns the signed size of an upload; `None` if it is not expected any more.
    pub(crate) async fn expected_bytes(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<u64>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(None) };
        let bytes: Option<i64> = sqlx::query_scalar(concat!(
            "SELECT bytes FROM upload WHERE tenant = $1 AND name = $2 AND NOT is_done AND expires > ",
            now!(),
        ))
        .bind(owner.id)
        .bind(name)
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(bytes.map(i64::cast_unsigned))
    }

    /// Marks an upload as finished. Its row stays as long as its URL can be used.
    pub(crate) async fn end_upload(&self, owner: i64, name: &str) -> Result<(), Error> {
        sqlx::query("UPDATE upload SET is_done = true WHERE tenant = $1 AND name = $2")
            .bind(owner)
            .bind(name)
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(())
    }

    /// Returns some of the expired uploads, of a tenant or of all.
    pub(crate) async fn late_uploads(
        &self,
        owner: Option<i64>,
    ) -> Result<Vec<ExpiredUpload>, Error> {
        let found: Vec<(i64, String)> = sqlx::query_as(concat!(
            "SELECT tenant, name FROM upload WHERE ($1 IS NULL OR tenant = $1) AND expires <= ",
            now!(),
            " ORDER BY is_done, expires LIMIT 256",
        ))
        .bind(owner)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(|(owner, name)| ExpiredUpload { owner, name }).collect())
    }

    /// Deletes the rows of uploads whose URLs cannot be used any more.
    pub(crate) async fn forget_uploads(&self) -> Result<(), Error> {
        sqlx::query(concat!("DELETE FROM upload WHERE is_done AND expires + $1 <= ", now!()))
            .bind(i64::try_from(MAX_UPLOAD_TIME.as_millis()).unwrap_or(i64::MAX / 4))
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(())
    }
}
