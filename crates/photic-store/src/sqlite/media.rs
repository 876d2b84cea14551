//! References to media.

use std::collections::BTreeMap;

use rusqlite::params;

use super::handles::find_or_make;
use super::{Sqlite, begin, failed, now};
use crate::error::Error;
use crate::handle::Tenant;
use crate::media::{Media, MediaRecord, MediaRef, NewMedia, columns, minted};

impl Media for Sqlite {
    async fn create_media(&self, tenant: &Tenant, minting: &NewMedia) -> Result<MediaRef, Error> {
        let reference = MediaRef::random()?;
        let (facts, memory, lasting) = columns(minting)?;
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (owner, _) = find_or_make(&transaction, tenant)?;
        let session = minting.session.as_ref().map(|id| {
            let find = "SELECT id FROM session WHERE name = ? AND tenant = ?";
            let found = transaction.query_row(find, params![id.as_str(), owner], |row| row.get(0));
            match found {
                Err(rusqlite::Error::QueryReturnedNoRows) => Err(Error::NoSession(id.clone())),
                other => Ok::<i64, Error>(other.map_err(failed)?),
            }
        });
        transaction
            .prepare_cached(
                "INSERT INTO media (tenant, reference, blob, facts, memory, session, expires)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )
            .map_err(failed)?
            .execute(params![
                owner,
                reference.as_str(),
                minting.blob.as_bytes(),
                facts,
                memory,
                session.transpose()?,
                now().saturating_add(lasting),
            ])
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(reference)
    }

    async fn media(
        &self,
        tenant: &Tenant,
        references: &[MediaRef],
    ) -> Result<BTreeMap<MediaRef, MediaRecord>, Error> {
        let names = serde_json::to_string(references).map_err(|_| Error::Damaged("references"))?;
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT reference, blob, facts, memory, expires
             FROM media JOIN tenant ON tenant.id = media.tenant
             WHERE tenant.name = ? AND reference IN (SELECT value FROM json_each(?)) AND expires > ?",
        ).map_err(failed)?;
        let mut rows = statement.query(params![tenant.as_str(), names, now()]).map_err(failed)?;
        let mut found = BTreeMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let (reference, facts, memory): (String, String, String) = (
                row.get(0).map_err(failed)?,
                row.get(2).map_err(failed)?,
                row.get(3).map_err(failed)?,
            );
            let (reference, minted) = minted(
                &reference,
                row.get(1).map_err(failed)?,
                &facts,
                &memory,
                row.get(4).map_err(failed)?,
            )?;
            found.insert(reference, minted);
        }
        Ok(found)
    }

    async fn delete_media(&self, tenant: &Tenant, reference: &MediaRef) -> Result<bool, Error> {
        let connection = self.connection();
        let held: Result<i64, _> = connection.query_row(
            "DELETE FROM media WHERE reference = ?
             AND tenant = (SELECT id FROM tenant WHERE name = ?) RETURNING expires",
            params![reference.as_str(), tenant.as_str()],
            |row| row.get(0),
        );
        match held {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(false),
            other => Ok(other.map_err(failed)? > now()),
        }
    }
}
