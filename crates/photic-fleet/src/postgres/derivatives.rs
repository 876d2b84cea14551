//! Prepared pictures shared by all replicas: found by sources and recipe, kept as long as their
//! day.

use photic_store::record::{MadeBlob, MadeKey};
use photic_store::{Error, Tenant};

use super::{Answer, Postgres};

/// A storage of prepared pictures.
pub trait Derivatives: Send + Sync {
    /// Returns the picture with this key, if it was made before.
    fn derivative(
        &self,
        tenant: &Tenant,
        key: &MadeKey,
    ) -> impl Future<Output = Result<Option<MadeBlob>, Error>> + Send;

    /// Records a prepared picture. Its bytes are already a blob of the tenant.
    fn keep_derivative(
        &self,
        tenant: &Tenant,
        key: &MadeKey,
        made: &MadeBlob,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

impl Derivatives for Postgres {
    async fn derivative(&self, tenant: &Tenant, key: &MadeKey) -> Result<Option<MadeBlob>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(None) };
        let found: Option<([u8; 32], String, i64, i64)> = sqlx::query_as(
            "SELECT blob, media_type, width, height FROM derivative
             WHERE tenant = $1 AND key = $2 ORDER BY day DESC LIMIT 1",
        )
        .bind(owner.id)
        .bind(key)
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.map(|(blob, media_type, width, height)| MadeBlob {
            blob: blob.into(),
            media_type,
            size: (width as u32, height as u32),
        }))
    }

    async fn keep_derivative(
        &self,
        tenant: &Tenant,
        key: &MadeKey,
        made: &MadeBlob,
    ) -> Result<(), Error> {
        let owner = self.owner(tenant).await?;
        let day = self.today().await?;
        sqlx::query(
            "INSERT INTO derivative (day, tenant, key, blob, media_type, width, height)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (day, tenant, key) DO UPDATE SET blob = excluded.blob,
                media_type = excluded.media_type, width = excluded.width, height = excluded.height",
        )
        .bind(day)
        .bind(owner.id)
        .bind(key)
        .bind(made.blob.as_bytes())
        .bind(&made.media_type)
        .bind(i64::from(made.size.0))
        .bind(i64::from(made.size.1))
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(())
    }
}
