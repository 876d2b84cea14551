//! Shares of quotas that replicas take, and the limits of tenants.

use std::time::Duration;

use photic_store::{Error, Tenant};

use super::{Answer as _, Postgres, failed};
use crate::quota::{Limits, QuotaKind};

/// Share of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrantedShare {
    /// Granted amount: zero, or at least the needed amount.
    pub(crate) granted: u64,
    /// Amount that remains for others.
    pub(crate) room: u64,
    /// Time until the minute ends.
    pub(crate) left: Duration,
}

/// Amounts of a request for a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShareRequest {
    /// Least useful amount. With less, nothing is taken.
    pub(crate) needed: u64,
    /// Desired amount. No more is taken unless it is needed.
    pub(crate) wanted: u64,
    /// Limit of all replicas together.
    pub(crate) most: u64,
}

/// Answer to a replica that reports itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplicaStatus {
    /// Number of replicas.
    pub(crate) replicas: u64,
    /// Set if this replica had been considered gone, with all its claims.
    pub(crate) was_gone: bool,
}

/// Limits in the order of [`Limits`].
type Row = (Option<i64>, Option<i64>, Option<i64>, Option<i64>);

impl Postgres {
    /// Returns the limits of a tenant that differ from the defaults.
    pub async fn limits(&self, tenant: &Tenant) -> Result<Limits, Error> {
        let found: Option<Row> = sqlx::query_as(
            "SELECT requests_per_minute, bytes_in_flight, megapixels_per_minute, stored_bytes
             FROM tenant_limits JOIN tenant ON tenant.id = tenant_limits.tenant WHERE name = $1",
        )
        .bind(tenant.as_str())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        let (requests, flight, megapixels, stored) = found.unwrap_or_default();
        let limit = |limit: Option<i64>| limit.map(i64::cast_unsigned);
        Ok(Limits {
            requests_per_minute: limit(requests),
            bytes_in_flight: limit(flight),
            megapixels_per_minute: limit(megapixels),
            stored_bytes: limit(stored),
        })
    }

    /// Sets limits of a tenant that differ from the defaults. All replicas apply them within
    /// seconds.
    pub async fn set_limits(&self, tenant: &Tenant, limits: &Limits) -> Result<(), Error> {
        let owner = self.owner(tenant).await?;
        sqlx::query(
            "INSERT INTO tenant_limits (tenant, requests_per_minute, bytes_in_flight,
                megapixels_per_minute, stored_bytes) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant) DO UPDATE SET requests_per_minute = excluded.requests_per_minute,
                bytes_in_flight = excluded.bytes_in_flight,
                megapixels_per_minute = excluded.megapixels_per_minute,
                stored_bytes = excluded.stored_bytes",
        )
        .bind(owner.id)
        .bind(limits.requests_per_minute.map(signed))
        .bind(limits.bytes_in_flight.map(signed))
        .bind(limits.megapixels_per_minute.map(signed))
        .bind(limits.stored_bytes.map(signed))
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(())
    }

    /// Takes a share of the current minute.
    pub(crate) async fn take_share(
        &self,
        tenant: &Tenant,
        kind: QuotaKind,
        wish: ShareRequest,
    ) -> Result<GrantedShare, Error> {
        let owner = self.owner(tenant).await?;
        let (granted, room, left): (i64, i64, i64) =
            sqlx::query_as("SELECT granted, room, left_ms FROM take_share($1, $2, $3, $4, $5)")
                .bind(owner.id)
                .bind(kind.as_str())
                .bind(signed(wish.needed))
                .bind(signed(wish.wanted))
                .bind(signed(wish.most))
                .fetch_one(&mut *self.connection().await?)
                .answer()
                .await?;
        Ok(GrantedShare {
            granted: granted as u64,
            room: room as u64,
            left: Duration::from_millis(left as u64),
        })
    }

    /// Changes the claim of a replica on bytes in flight. Returns the new claim, or `None` if the
    /// replica is considered gone. Nothing is counted for a deleted tenant.
    pub(crate) async fn claim_bytes(
        &self,
        tenant: &Tenant,
        replica: i64,
        wish: ShareRequest,
    ) -> Result<Option<u64>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(Some(wish.wanted)) };
        let claimed: Option<i64> = sqlx::query_scalar("SELECT claim_bytes($1, $2, $3, $4, $5)")
            .bind(owner.id)
            .bind(replica)
            .bind(signed(wish.needed))
            .bind(signed(wish.wanted))
            .bind(signed(wish.most))
            .fetch_one(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(claimed.map(i64::cast_unsigned))
    }

    /// Reports that a replica is alive, and renews its lease.
    pub(crate) async fn stay(&self, replica: i64, lease: Duration) -> Result<ReplicaStatus, Error> {
        let (replicas, was_gone): (i64, bool) =
            sqlx::query_as("SELECT replicas, was_gone FROM stay($1, $2)")
                .bind(replica)
                .bind(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX / 4))
                .fetch_one(&mut *self.connection().await?)
                .answer()
                .await?;
        Ok(ReplicaStatus { replicas: replicas as u64, was_gone })
    }

    /// Returns the bytes of a tenant in the bucket, by the index, plus the size of expected
    /// uploads. The duration depends on the number of rows.
    pub(crate) async fn stored_bytes(&self, tenant: &Tenant) -> Result<u64, Error> {
        let sum: i64 = sqlx::query_scalar(
            "SELECT (coalesce((SELECT sum(length) FROM blob WHERE tenant = its.id), 0)
                + coalesce((SELECT sum(bytes) FROM upload WHERE tenant = its.id AND NOT is_done), 0)
             )::bigint FROM (SELECT (SELECT id FROM tenant WHERE name = $1) AS id) AS its",
        )
        .bind(tenant.as_str())
        .fetch_one(&mut *self.connection().await?)
        .await
        .map_err(failed)?;
        Ok(sum as u64)
    }
}

/// Converts an amount. Larger ones saturate.
fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
