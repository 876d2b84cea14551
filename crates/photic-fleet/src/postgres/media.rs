//! References to media.

use std::collections::BTreeMap;

use photic_store::media::{columns, minted};
use photic_store::{Error, Media, MediaRecord, MediaRef, NewMedia, SessionId, Tenant};

use super::{Answer, Postgres, numbers};

/// A reference with its blob, facts, stub and expiry.
type Row = (String, [u8; 32], String, String, i64);

impl Media for Postgres {
    async fn create_media(&self, tenant: &Tenant, minting: &NewMedia) -> Result<MediaRef, Error> {
        let owner = self.owner(tenant).await?;
        let reference = MediaRef::random()?;
        let (facts, memory, lasting) = columns(minting)?;
        let session = minting.session.as_ref();
        let (low, high) = session.map_or((0, 0), numbers);
        let minted = sqlx::query(concat!(
            "INSERT INTO media (tenant, reference, blob, facts, memory, session, expires)
             SELECT $1, $2, $3, $4, $5, session.id, $6 + ",
            now!(),
            " FROM (SELECT) AS one LEFT JOIN session
                ON name = $7 AND session.tenant = $1 AND id >= $8 AND id < $9
             WHERE $7 IS NULL OR session.id IS NOT NULL",
        ))
        .bind(owner.id)
        .bind(reference.as_str())
        .bind(minting.blob.as_bytes())
        .bind(facts)
        .bind(memory)
        .bind(lasting)
        .bind(session.map(SessionId::as_str))
        .bind(low)
        .bind(high)
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        match session {
            Some(id) if minted.rows_affected() == 0 => Err(Error::NoSession(id.clone())),
            _ => Ok(reference),
        }
    }

    async fn media(
        &self,
        tenant: &Tenant,
        references: &[MediaRef],
    ) -> Result<BTreeMap<MediaRef, MediaRecord>, Error> {
        let found: Vec<Row> = sqlx::query_as(concat!(
            "SELECT reference, blob, facts, memory, expires
             FROM media JOIN tenant ON tenant.id = media.tenant
             WHERE tenant.name = $1 AND reference = ANY($2) AND expires > ",
            now!(),
        ))
        .bind(tenant.as_str())
        .bind(references.iter().map(MediaRef::as_str).collect::<Vec<_>>())
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(reference, blob, facts, memory, expires): Row| {
            minted(&reference, blob, &facts, &memory, expires)
        };
        found.into_iter().map(read).collect()
    }

    async fn delete_media(&self, tenant: &Tenant, reference: &MediaRef) -> Result<bool, Error> {
        let held: Option<bool> = sqlx::query_scalar(concat!(
            "DELETE FROM media USING tenant
             WHERE tenant.id = media.tenant AND tenant.name = $1 AND reference = $2
             RETURNING expires > ",
            now!(),
        ))
        .bind(tenant.as_str())
        .bind(reference.as_str())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(held.unwrap_or_default())
    }
}

impl Postgres {
    /// Removes expired references.
    pub(crate) async fn end_media(&self) -> Result<(), Error> {
        sqlx::query(concat!("DELETE FROM media WHERE expires <= ", now!()))
            .execute(&mut *self.connection().await?)
            .await
            .map_err(super::failed)?;
        Ok(())
    }
}
