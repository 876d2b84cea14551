//! Keys of tenants.

use std::time::Duration;

use photic_store::{Error, Tenant};

use super::{Answer, Postgres};
use crate::keys::{ApiKey, KeyFacts, KeyId, Keys, SecretHash};

/// Facts about a key, in the order of [`KeyFacts`].
type Row = (String, String, i64, Option<i64>, Option<i64>);

impl Keys for Postgres {
    async fn issue_key(
        &self,
        tenant: &Tenant,
        label: &str,
        lasting: Option<Duration>,
    ) -> Result<ApiKey, Error> {
        let owner = self.owner(tenant).await?;
        let key = ApiKey::random()?;
        sqlx::query(concat!(
            "INSERT INTO api_key (id, hash, tenant, label, created, expires)
             SELECT $1, $2, $3, $4, now, now + $5 FROM (SELECT ",
            now!(),
            " AS now) AS clock",
        ))
        .bind(key.id().as_str())
        .bind(*key.hash().as_bytes())
        .bind(owner.id)
        .bind(label.replace('\0', ""))
        .bind(lasting.map(milliseconds))
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(key)
    }

    async fn rotate_key(
        &self,
        tenant: &Tenant,
        id: &KeyId,
        overlap: Duration,
    ) -> Result<Option<ApiKey>, Error> {
        let key = ApiKey::random()?;
        // The new key has the lifetime of the old one.
        let made = sqlx::query(concat!(
            "WITH clock AS (SELECT ",
            now!(),
            " AS now), old AS (UPDATE api_key SET expires = least(api_key.expires, clock.now + $5)
                FROM clock, tenant, api_key AS before
                WHERE api_key.id = $3 AND before.id = api_key.id AND tenant.id = api_key.tenant
                    AND tenant.name = $4 AND api_key.revoked IS NULL
                    AND (api_key.expires IS NULL OR api_key.expires > clock.now)
                RETURNING api_key.tenant, api_key.label, clock.now,
                    before.expires - before.created AS lasting)
             INSERT INTO api_key (id, hash, tenant, label, created, expires)
             SELECT $1, $2, tenant, label, now, now + lasting FROM old",
        ))
        .bind(key.id().as_str())
        .bind(*key.hash().as_bytes())
        .bind(id.as_str())
        .bind(tenant.as_str())
        .bind(milliseconds(overlap))
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok((made.rows_affected() == 1).then_some(key))
    }

    async fn revoke_key(&self, tenant: &Tenant, id: &KeyId) -> Result<bool, Error> {
        let revoked = sqlx::query(concat!(
            "UPDATE api_key SET revoked = ",
            now!(),
            " FROM tenant WHERE tenant.id = api_key.tenant AND tenant.name = $2
             AND api_key.id = $1 AND revoked IS NULL",
        ))
        .bind(id.as_str())
        .bind(tenant.as_str())
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(revoked.rows_affected() == 1)
    }

    async fn keys(&self, tenant: &Tenant) -> Result<Vec<KeyFacts>, Error> {
        let found: Vec<Row> = sqlx::query_as(
            "SELECT api_key.id, label, created, expires, revoked
             FROM api_key JOIN tenant ON tenant.id = api_key.tenant
             WHERE tenant.name = $1 ORDER BY created DESC, api_key.id",
        )
        .bind(tenant.as_str())
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let facts = |(id, label, created, expires, revoked): Row| KeyFacts {
            id,
            label,
            created,
            expires,
            revoked,
        };
        Ok(found.into_iter().map(facts).collect())
    }

    async fn tenant_of(&self, key: &ApiKey) -> Result<Option<Tenant>, Error> {
        let found: Option<(String, [u8; 32])> = sqlx::query_as(concat!(
            "SELECT tenant.name, hash FROM api_key JOIN tenant ON tenant.id = api_key.tenant
             WHERE api_key.id = $1 AND revoked IS NULL AND (expires IS NULL OR expires > ",
            now!(),
            ")",
        ))
        .bind(key.id().as_str())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        // Hashes of this type compare in constant time.
        let opens = |(_, hash): &(String, [u8; 32])| SecretHash::from_bytes(*hash) == key.hash();
        Ok(found.filter(opens).map(|(name, _)| Tenant::new(name)))
    }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}
