//! Forgets sessions and removes rows that nothing uses any more.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension as _, params};

use super::{Sqlite, begin, failed, now};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::Tenant;
use crate::record::SessionId;

/// Numbers of blobs that are kept, each counted under its first reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptBlobs {
    /// Blobs of sessions.
    pub by_sessions: u64,
    /// Others with a handle that is pinned, or was issued since the given time.
    pub by_handles: u64,
    /// Others that were uploaded and have not expired.
    pub by_uploads: u64,
}

/// Tables whose rows belong to a session.
const SESSION_TABLES: [&str; 9] =
    ["turn", "message", "made", "choice", "past_choice", "outcome", "reply", "held", "media"];

impl Sqlite {
    /// Counts the blobs that a collection keeps, by the reason. Handles that are not pinned count
    /// if they were issued after `since`.
    pub fn kept_blobs(&self, since: SystemTime) -> Result<KeptBlobs, Error> {
        let connection = self.connection();
        connection
            .query_row(
                "WITH handled AS (SELECT DISTINCT blob FROM handle
                     WHERE (pinned OR issued >= ?1) AND blob NOT IN (SELECT blob FROM held))
                 SELECT (SELECT count(DISTINCT blob) FROM held), (SELECT count(*) FROM handled),
                     (SELECT count(DISTINCT blob) FROM media WHERE expires > ?2
                      AND blob NOT IN (SELECT blob FROM held)
                      AND blob NOT IN (SELECT blob FROM handled))",
                params![milliseconds(since), now()],
                |row| {
                    Ok(KeptBlobs {
                        by_sessions: row.get(0)?,
                        by_handles: row.get(1)?,
                        by_uploads: row.get(2)?,
                    })
                },
            )
            .map_err(failed)
    }

    pub(super) fn forget_session(&self, tenant: &Tenant, id: &SessionId) -> Result<bool, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let session: Option<(i64, i64)> = transaction
            .query_row(
                "SELECT session.id, tenant.id FROM session JOIN tenant ON tenant.id = session.tenant
                 WHERE session.name = ? AND tenant.name = ?",
                params![id.as_str(), tenant.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional().map_err(failed)?;
        let Some((session, tenant)) = session else { return Ok(false) };
        transaction
            .execute(
                "DELETE FROM handle WHERE tenant = ?1 AND pinned = 0
             AND blob IN (SELECT blob FROM held WHERE session = ?2)
             AND NOT EXISTS (SELECT 1 FROM held JOIN session ON session.id = held.session
                WHERE held.blob = handle.blob AND held.session <> ?2 AND session.tenant = ?1)",
                params![tenant, session],
            )
            .map_err(failed)?;
        for table in SESSION_TABLES {
            transaction
                .execute(&format!("DELETE FROM {table} WHERE session = ?"), [session])
                .map_err(failed)?;
        }
        transaction.execute("DELETE FROM session WHERE id = ?", [session]).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(true)
    }

    pub(super) fn is_reached(&self, blob: &BlobId, since: SystemTime) -> Result<bool, Error> {
        let connection = self.connection();
        let reached = connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM held WHERE blob = ?1) OR EXISTS
                 (SELECT 1 FROM handle WHERE blob = ?1 AND (pinned OR issued >= ?2)) OR EXISTS
                 (SELECT 1 FROM media WHERE blob = ?1 AND expires > ?3)",
            )
            .map_err(failed)?
            .query_row(params![blob.as_bytes(), milliseconds(since), now()], |row| row.get(0))
            .map_err(failed)?;
        Ok(reached)
    }

    pub(super) fn sweep_unused(&self, since: SystemTime) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        transaction
            .execute_batch(
                "DELETE FROM piece WHERE id NOT IN (SELECT before FROM turn UNION
                SELECT after FROM turn UNION SELECT profile FROM turn UNION
                SELECT policy FROM turn UNION SELECT circumstances FROM turn);
             DELETE FROM memory WHERE blob NOT IN (SELECT blob FROM held);",
            )
            .map_err(failed)?;
        transaction
            .execute(
                "DELETE FROM handle WHERE pinned = 0 AND issued < ?
             AND blob NOT IN (SELECT blob FROM held)",
                [milliseconds(since)],
            )
            .map_err(failed)?;
        transaction.execute("DELETE FROM media WHERE expires <= ?", [now()]).map_err(failed)?;
        // Outcomes of a session go with it.
        transaction
            .execute(
                "DELETE FROM outcome WHERE session IS NULL AND begun < ?",
                [milliseconds(since)],
            )
            .map_err(failed)?;
        transaction.commit().map_err(failed)
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
