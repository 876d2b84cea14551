//! Index of blobs: their locations in objects.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use photic_store::{BlobId, Error, Listed, Tenant};

use super::{Answer, Postgres, failed, milliseconds};

/// Range of an object that holds a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobLocation {
    /// The key of the object.
    pub object: String,
    /// Offset of the range.
    pub at: u64,
    /// Length of the range.
    pub length: u64,
}

/// Result of removing locations.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemovedLocations {
    /// Set if the blob has no location any more.
    pub(crate) is_gone: bool,
    /// Objects that are not used any more.
    pub(crate) objects: Vec<String>,
}

/// Approximate number of blobs in a page of a listing.
const PAGE_SIZE: i64 = 1000;

impl Postgres {
    /// Returns the locations of a blob, newest first.
    pub(crate) async fn places(
        &self,
        tenant: &Tenant,
        id: &BlobId,
    ) -> Result<Vec<BlobLocation>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(Vec::new()) };
        let found: Vec<(String, i64, i64)> = sqlx::query_as(
            "SELECT object, at, length FROM blob WHERE tenant = $1 AND id = $2 ORDER BY day DESC",
        )
        .bind(owner.id)
        .bind(id.as_bytes())
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let place = |(object, at, length): (String, i64, i64)| BlobLocation {
            object,
            at: at as u64,
            length: length as u64,
        };
        Ok(found.into_iter().map(place).collect())
    }

    /// Renews the storage time of blobs that were stored today, and returns them. Also returns the
    /// tenant's number and the day for storing the others.
    pub(crate) async fn renew(
        &self,
        tenant: &Tenant,
        ids: &BTreeSet<BlobId>,
    ) -> Result<((i64, i32), BTreeSet<BlobId>), Error> {
        let owner = self.owner(tenant).await?;
        loop {
            // The cached day: the statement checks it at no cost.
            let day = self.inner.opened.load(Ordering::Relaxed);
            // Locked in the order of names, so that concurrent renewals do not deadlock.
            let (today, found): (i32, Vec<[u8; 32]>) = sqlx::query_as(concat!(
                "WITH these AS (SELECT id FROM blob WHERE day = $1 AND tenant = $2 AND id = ANY($3)
                    ORDER BY id FOR UPDATE),
                 renewed AS (UPDATE blob SET stored = ",
                now!(),
                " FROM these WHERE day = $1 AND tenant = $2 AND blob.id = these.id
                    RETURNING blob.id)
                 SELECT ",
                today!("$4"),
                ", ARRAY(SELECT id FROM renewed)",
            ))
            .bind(day)
            .bind(owner.id)
            .bind(ids.iter().map(|id| *id.as_bytes()).collect::<Vec<_>>())
            .bind(self.ahead())
            .fetch_one(&mut *self.connection().await?)
            .answer()
            .await?;
            if today <= day {
                return Ok(((owner.id, day), found.into_iter().map(BlobId::from).collect()));
            }
            self.opened(today).await?;
        }
    }

    /// Records the locations of blobs. Returns how many were new on this day.
    pub(crate) async fn add_places(
        &self,
        owner: i64,
        day: i32,
        object: &str,
        places: &[(BlobId, BlobLocation)],
    ) -> Result<usize, Error> {
        let objects: Vec<String> = sqlx::query_scalar(concat!(
            "INSERT INTO blob (day, tenant, id, object, at, length, stored)
             SELECT $1, $2, new.id, $3, new.at, new.length, ",
            now!(),
            " FROM unnest($4::bytea[], $5::bigint[], $6::bigint[]) AS new (id, at, length)
             ORDER BY new.id
             ON CONFLICT (day, tenant, id) DO UPDATE SET stored = excluded.stored
             RETURNING object",
        ))
        .bind(day)
        .bind(owner)
        .bind(object)
        .bind(places.iter().map(|(id, _)| *id.as_bytes()).collect::<Vec<_>>())
        .bind(places.iter().map(|(_, place)| place.at.cast_signed()).collect::<Vec<_>>())
        .bind(places.iter().map(|(_, place)| place.length.cast_signed()).collect::<Vec<_>>())
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(objects.iter().filter(|one| *one == object).count())
    }

    /// Lists the blobs of a tenant after one, in the order of names.
    pub(crate) async fn listed(
        &self,
        tenant: &Tenant,
        after: Option<&BlobId>,
    ) -> Result<Vec<Listed>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(Vec::new()) };
        let found: Vec<([u8; 32], i64, i64)> = sqlx::query_as(
            "SELECT id, max(length), max(stored) FROM blob
             WHERE tenant = $1 AND ($2::bytea IS NULL OR id > $2)
             GROUP BY id ORDER BY id LIMIT $3",
        )
        .bind(owner.id)
        .bind(after.map(BlobId::as_bytes))
        .bind(PAGE_SIZE)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let listed = |(id, bytes, stored): ([u8; 32], i64, i64)| Listed {
            id: id.into(),
            bytes: bytes as u64,
            stored: UNIX_EPOCH + Duration::from_millis(stored as u64),
        };
        Ok(found.into_iter().map(listed).collect())
    }

    /// Removes the locations of a blob that were not stored at `since` or later.
    ///
    /// A concurrent writer either waits for the locked row and then finds it deleted, or was first
    /// and renewed its time.
    pub(crate) async fn remove_places(
        &self,
        tenant: &Tenant,
        id: &BlobId,
        since: SystemTime,
    ) -> Result<RemovedLocations, Error> {
        let Some(owner) = self.find_owner(tenant).await? else {
            return Ok(RemovedLocations::default());
        };
        let mut transaction = self.begin_transaction().await?;
        let objects: Vec<String> = sqlx::query_scalar(
            "DELETE FROM blob WHERE tenant = $1 AND id = $2 AND stored < $3 RETURNING object",
        )
        .bind(owner.id)
        .bind(id.as_bytes())
        .bind(milliseconds(since))
        .fetch_all(&mut *transaction)
        .await
        .map_err(failed)?;
        let (is_left, used): (bool, Vec<String>) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM blob WHERE tenant = $1 AND id = $2),
                ARRAY(SELECT DISTINCT object FROM blob WHERE tenant = $1 AND object = ANY($3))",
        )
        .bind(owner.id)
        .bind(id.as_bytes())
        .bind(&objects)
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(RemovedLocations {
            is_gone: !objects.is_empty() && !is_left,
            objects: objects.into_iter().filter(|object| !used.contains(object)).collect(),
        })
    }

    /// Returns blobs of pinned handles and valid references whose only locations are on days before
    /// `day`, with their tenants.
    pub(crate) async fn wanted_before(&self, day: i32) -> Result<Vec<(Tenant, BlobId)>, Error> {
        let found: Vec<(String, [u8; 32])> = sqlx::query_as(concat!(
            "SELECT tenant.name, wanted.blob FROM (SELECT tenant, blob FROM pin
                UNION SELECT tenant, blob FROM media WHERE expires > ",
            now!(),
            ") AS wanted JOIN tenant ON tenant.id = wanted.tenant
             WHERE EXISTS (SELECT 1 FROM blob
                WHERE blob.tenant = wanted.tenant AND blob.id = wanted.blob AND day < $1)
             AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.tenant = wanted.tenant
                AND blob.id = wanted.blob AND (day >= $1 OR day = 0))",
        ))
        .bind(day)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(|(name, blob)| (Tenant::new(name), blob.into())).collect())
    }

    /// Returns blobs that were copied to outlive their day, with their tenants.
    pub(crate) async fn kept(&self) -> Result<Vec<(Tenant, BlobId)>, Error> {
        let found: Vec<(String, [u8; 32])> = sqlx::query_as(
            "SELECT tenant.name, blob.id FROM blob JOIN tenant ON tenant.id = blob.tenant
             WHERE day = 0",
        )
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(|(name, blob)| (Tenant::new(name), blob.into())).collect())
    }
}
