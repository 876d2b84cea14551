//! Identifies the caller of a request by its tenant key.
//!
//! Keys of providers are not tenant keys: they pass through. If no tenant keys are required, all
//! callers are the same tenant.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use photic_store::Tenant;

use super::identity::Identity;
use crate::future::BoxFuture;
use crate::http::Failure;
use crate::http::headers::TENANT_KEY;

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The tenant.
    pub(crate) tenant: Tenant,
    /// The id of the tenant key in the request.
    pub(crate) key: Option<String>,
    /// The owner of its lessons and of its cached images.
    pub(crate) identity: Identity,
}

/// The places in which a request may show the key of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    /// Only in the header `x-photic-key`: `authorization` holds the key of a provider.
    OwnHeader,
    /// In `x-photic-key` or as bearer token, on paths of the gateway itself.
    OwnHeaderOrBearer,
}

/// Identifies the callers of requests.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// Set if tenant keys are required.
    keys: Option<Box<dyn KeyRing>>,
}

/// The keys of tenants.
pub(crate) trait KeyRing: std::fmt::Debug + Send + Sync {
    /// Finds the tenant of a key.
    fn find<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyOwner>, KeysAway>>;
}

/// The owner of a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyOwner {
    pub(crate) tenant: Tenant,
    /// The public name of the key, for the audit.
    pub(crate) key: Option<String>,
}

/// Tenant keys cannot be looked up at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeysAway;

impl Callers {
    /// Requires a tenant key in every request.
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet has keys"))]
    pub(crate) fn by_key(keys: Box<dyn KeyRing>) -> Self {
        Self { keys: Some(keys) }
    }

    /// Returns `true` if requests must carry a tenant key.
    pub(crate) const fn requires_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the caller of a request.
    ///
    /// # Errors
    ///
    /// Fails if a tenant key is required and the request has no valid one, or if the database is
    /// unavailable.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        key_place: KeyPlace,
    ) -> Result<Caller, Failure> {
        let Some(keys) = &self.keys else {
            let identity = Identity::of(headers, query);
            return Ok(Caller { tenant: Tenant::local(), key: None, identity });
        };
        let bearer =
            headers.get(AUTHORIZATION).filter(|_| key_place == KeyPlace::OwnHeaderOrBearer);
        let bearer = bearer.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let key = headers.get(TENANT_KEY).and_then(|value| value.to_str().ok());
        let key = key.or(bearer).ok_or(Failure::NoKey)?;
        let owner = keys.find(key).await.map_err(|KeysAway| Failure::KeysAway)?;
        let KeyOwner { tenant, key } = owner.ok_or(Failure::NoKey)?;
        let identity = Identity::Tenant(tenant.clone());
        Ok(Caller { tenant, key, identity })
    }
}
