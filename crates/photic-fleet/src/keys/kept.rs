//! Where keys are kept.

use std::time::Duration;

use photic_store::{Error, Tenant};
use serde::Serialize;

use super::{ApiKey, KeyId};

/// What may be shown of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyFacts {
    /// Its public name.
    pub id: String,
    /// What it is for.
    pub label: String,
    /// When it was made: milliseconds since 1970.
    pub created: i64,
    /// When it ends, if it does.
    pub expires: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// Where keys are kept. All replicas know of a change within seconds, and none has to be told.
pub trait Keys: Send + Sync {
    /// Makes a key for a tenant, for ever or for a time.
    fn issue_key(
        &self,
        tenant: &Tenant,
        label: &str,
        lasting: Option<Duration>,
    ) -> impl Future<Output = Result<ApiKey, Error>> + Send;

    /// Makes a key in place of another, which opens for some time more; `None` if there is no such
    /// key, or it does not open any more.
    fn rotate_key(
        &self,
        tenant: &Tenant,
        id: &KeyId,
        overlap: Duration,
    ) -> impl Future<Output = Result<Option<ApiKey>, Error>> + Send;

    /// Ends a key; whether there was one that opened.
    fn revoke_key(
        &self,
        tenant: &Tenant,
        id: &KeyId,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// The keys of a tenant, the latest first.
    fn keys(&self, tenant: &Tenant) -> impl Future<Output = Result<Vec<KeyFacts>, Error>> + Send;

    /// Whose key it is, if it opens.
    fn tenant_of(&self, key: &ApiKey)
    -> impl Future<Output = Result<Option<Tenant>, Error>> + Send;
}
