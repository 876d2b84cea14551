//! Tenants and their handles.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Sqlite, begin, failed, now};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Handle, Handles, IssuedHandle, Secret, Tenant};
use crate::random::random_bytes;

impl Sqlite {
    /// Returns the secret of a tenant. See [`Handles::secret`].
    pub fn secret(&self, tenant: &Tenant) -> Result<Secret, Error> {
        let mut connection = self.connection();
        if let Some((_, secret)) = find(&connection, tenant)? {
            return Ok(secret);
        }
        let transaction = begin(&mut connection)?;
        let (_, secret) = find_or_make(&transaction, tenant)?;
        transaction.commit().map_err(failed)?;
        Ok(secret)
    }

    /// Issues the handle of a blob. See [`Handles::issue`].
    pub fn issue(&self, tenant: &Tenant, blob: &BlobId, facts: &Facts) -> Result<Handle, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (id, secret) = find_or_make(&transaction, tenant)?;
        let handle = Handle::of(&secret, blob);
        let facts = serde_json::to_string(facts).map_err(|_| Error::Damaged("facts"))?;
        let changed = transaction
            .prepare_cached(
                "INSERT INTO handle (tenant, handle, blob, facts, issued) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET facts = excluded.facts, issued = excluded.issued
                 WHERE blob = excluded.blob",
            )
            .map_err(failed)?
            .execute(params![id, handle.as_str(), blob.as_bytes(), facts, now()])
            .map_err(failed)?;
        if changed == 0 {
            return Err(Error::Damaged("two blobs have one handle"));
        }
        transaction.commit().map_err(failed)?;
        Ok(handle)
    }

    /// Looks up a handle. See [`Handles::resolve`].
    pub fn resolve(&self, tenant: &Tenant, handle: &Handle) -> Result<Option<IssuedHandle>, Error> {
        let connection = self.connection();
        let found: Option<([u8; 32], String, bool)> = connection
            .prepare_cached(
                "SELECT blob, facts, pinned FROM handle JOIN tenant ON tenant.id = handle.tenant
                 WHERE tenant.name = ? AND handle = ?",
            )
            .map_err(failed)?
            .query_row(params![tenant.as_str(), handle.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()
            .map_err(failed)?;
        let Some((blob, facts, pinned)) = found else { return Ok(None) };
        let facts = serde_json::from_str(&facts).map_err(|_| Error::Damaged("facts"))?;
        Ok(Some(IssuedHandle { blob: blob.into(), facts, pinned }))
    }

    /// Pins the blob behind a handle. See [`Handles::pin`].
    pub fn pin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        self.set_pinned(tenant, handle, true)
    }

    /// Unpins the blob behind a handle. See [`Handles::unpin`].
    pub fn unpin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        self.set_pinned(tenant, handle, false)
    }

    fn set_pinned(&self, tenant: &Tenant, handle: &Handle, pinned: bool) -> Result<bool, Error> {
        let changed = self
            .connection()
            .execute(
                "UPDATE handle SET pinned = ?
             WHERE handle = ? AND tenant = (SELECT id FROM tenant WHERE name = ?)",
                params![pinned, handle.as_str(), tenant.as_str()],
            )
            .map_err(failed)?;
        Ok(changed > 0)
    }
}

impl Handles for Sqlite {
    async fn secret(&self, tenant: &Tenant) -> Result<Secret, Error> {
        self.secret(tenant)
    }

    async fn issue(&self, tenant: &Tenant, blob: &BlobId, facts: &Facts) -> Result<Handle, Error> {
        self.issue(tenant, blob, facts)
    }

    async fn resolve(
        &self,
        tenant: &Tenant,
        handle: &Handle,
    ) -> Result<Option<IssuedHandle>, Error> {
        self.resolve(tenant, handle)
    }

    async fn pin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        self.pin(tenant, handle)
    }

    async fn unpin(&self, tenant: &Tenant, handle: &Handle) -> Result<bool, Error> {
        self.unpin(tenant, handle)
    }
}

/// Finds a tenant by name.
pub(super) fn find(
    connection: &Connection,
    tenant: &Tenant,
) -> Result<Option<(i64, Secret)>, Error> {
    connection
        .prepare_cached("SELECT id, secret FROM tenant WHERE name = ?")
        .map_err(failed)?
        .query_row([tenant.as_str()], |row| Ok((row.get(0)?, Secret(row.get(1)?))))
        .optional()
        .map_err(failed)
}

/// Finds a tenant by name. Creates it with a new secret if it does not exist.
pub(super) fn find_or_make(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
) -> Result<(i64, Secret), Error> {
    if let Some(found) = find(transaction, tenant)? {
        return Ok(found);
    }
    let secret: [u8; 32] = random_bytes()?;
    transaction
        .execute(
            "INSERT INTO tenant (name, secret) VALUES (?, ?)",
            params![tenant.as_str(), secret],
        )
        .map_err(failed)?;
    Ok((transaction.last_insert_rowid(), Secret(secret)))
}
