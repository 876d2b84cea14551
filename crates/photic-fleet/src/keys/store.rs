//! The storage of keys.

use std::time::Duration;

use photic_store::{Error, Tenant};
use serde::Serialize;

use super::{ApiKey, KeyId};

/// Facts about a key that may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyFacts {
    /// Its public name.
    pub id: String,
    /// Its purpose.
    pub label: String,
    /// Creation time in milliseconds since 1970.
    pub created: i64,
    /// Expiry, if it has one.
    pub expires: Option<i64>,
    /// Time of revocation.
    pub revoked: Option<i64>,
}

/// A storage of keys. Changes reach all replicas within seconds.
pub trait Keys: Send + Sync {
    /// Creates a key for a tenant, with an optional lifetime.
    fn issue_key(
        &self,
        tenant: &Tenant,
        label: &str,
        lasting: Option<Duration>,
    ) -> impl Future<Output = Result<ApiKey, Error>> + Send;

    /// Creates a key that replaces another one. The old key stays valid for `overlap`. Returns
    /// `None` if the old key does not exist or is not valid any more.
    fn rotate_key(
        &self,
        tenant: &Tenant,
        id: &KeyId,
        overlap: Duration,
    ) -> impl Future<Output = Result<Option<ApiKey>, Error>> + Send;

    /// Revokes a key. Returns whether it was valid.
    fn revoke_key(
        &self,
        tenant: &Tenant,
        id: &KeyId,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Lists the keys of a tenant, latest first.
    fn keys(&self, tenant: &Tenant) -> impl Future<Output = Result<Vec<KeyFacts>, Error>> + Send;

    /// Returns the tenant of a valid key.
    fn tenant_of(&self, key: &ApiKey)
    -> impl Future<Output = Result<Option<Tenant>, Error>> + Send;
}
