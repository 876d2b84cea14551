//! Deletes data before its day ends: forgotten sessions, and what nothing uses afterwards.

use std::time::SystemTime;

use photic_store::{BlobId, Error, SessionId, Tenant};

use super::{Answer, Postgres, alone, failed, milliseconds, numbers};

impl Postgres {
    pub(super) async fn forget_session(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> Result<bool, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(false) };
        let mut transaction = self.begin_transaction().await?;
        // No other session may start to use this session's blobs while they are checked.
        alone(&mut transaction, &owner).await?;
        let (low, high) = numbers(id);
        let session: Option<i64> = sqlx::query_scalar(
            "DELETE FROM session WHERE name = $1 AND tenant = $2 AND id >= $3 AND id < $4
             RETURNING id",
        )
        .bind(id.as_str())
        .bind(owner.id)
        .bind(low)
        .bind(high)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed)?;
        let Some(session) = session else { return Ok(false) };
        // The session row is deleted, so remaining references belong to others.
        sqlx::query(
            "DELETE FROM handle WHERE tenant = $1
             AND blob IN (SELECT blob FROM held WHERE session = $2)
             AND NOT EXISTS (SELECT 1 FROM held JOIN session ON session.id = held.session
                WHERE held.blob = handle.blob AND session.tenant = $1)",
        )
        .bind(owner.id)
        .bind(session)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        for delete in [
            "DELETE FROM turn WHERE session = $1",
            "DELETE FROM message WHERE session = $1",
            "DELETE FROM made WHERE session = $1",
            "DELETE FROM choice WHERE session = $1",
            "DELETE FROM past_choice WHERE session = $1",
            "DELETE FROM outcome WHERE session = $1",
            "DELETE FROM reply WHERE session = $1",
            "DELETE FROM held WHERE session = $1",
            "DELETE FROM media WHERE session = $1",
        ] {
            sqlx::query(delete).bind(session).execute(&mut *transaction).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        Ok(true)
    }

    pub(super) async fn is_reached(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        since: SystemTime,
    ) -> Result<bool, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(false) };
        sqlx::query_scalar(concat!(
            "SELECT EXISTS (SELECT 1 FROM held JOIN session ON session.id = held.session
                WHERE held.blob = $2 AND session.tenant = $1)
             OR EXISTS (SELECT 1 FROM pin WHERE tenant = $1 AND blob = $2)
             OR EXISTS (SELECT 1 FROM handle WHERE tenant = $1 AND blob = $2 AND issued >= $3)
             OR EXISTS (SELECT 1 FROM media WHERE tenant = $1 AND blob = $2 AND expires > ",
            now!(),
            ")",
        ))
        .bind(owner.id)
        .bind(blob.as_bytes())
        .bind(milliseconds(since))
        .fetch_one(&mut *self.connection().await?)
        .answer()
        .await
    }

    pub(super) async fn sweep_unused(
        &self,
        tenant: &Tenant,
        since: SystemTime,
    ) -> Result<(), Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(()) };
        let mut transaction = self.begin_transaction().await?;
        alone(&mut transaction, &owner).await?;
        sqlx::query(
            "DELETE FROM handle WHERE tenant = $1 AND issued < $2
             AND NOT EXISTS (SELECT 1 FROM held JOIN session ON session.id = held.session
                WHERE held.blob = handle.blob AND session.tenant = $1)",
        )
        .bind(owner.id)
        .bind(milliseconds(since))
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        sqlx::query(
            "DELETE FROM piece WHERE tenant = $1 AND (day, digest) NOT IN (
                SELECT (session.id >> 40)::integer, used.piece FROM session
                JOIN turn ON turn.session = session.id,
                unnest(ARRAY[before, after, profile, policy, circumstances]) AS used (piece)
                WHERE session.tenant = $1)",
        )
        .bind(owner.id)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        // Outcomes of a session go with it.
        sqlx::query(
            "DELETE FROM outcome WHERE tenant = $1 AND begun < $2
             AND session & ((1::bigint << 40) - 1) = 0",
        )
        .bind(owner.id)
        .bind(milliseconds(since))
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        self.end_media().await
    }
}
