//! Identifies the caller of a request by its tenant key.
//!
//! Keys of providers are not tenant keys: they pass through. If no tenant keys are required, all
//! callers are the same tenant.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use photic_fleet::{ApiKey, Gate, KeyId, Postgres};
use photic_store::Tenant;

use super::identity::Identity;
use crate::http::Failure;
use crate::http::headers::TENANT_KEY;

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The tenant.
    pub(crate) tenant: Tenant,
    /// The id of the tenant key in the request.
    pub(crate) key: Option<KeyId>,
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
    gate: Option<Gate<Postgres>>,
}

impl Callers {
    /// Requires a tenant key in every request.
    pub(crate) fn by_key(keys: Postgres) -> Self {
        Self { gate: Some(Gate::new(keys)) }
    }

    /// Returns `true` if requests must carry a tenant key.
    pub(crate) const fn requires_keys(&self) -> bool {
        self.gate.is_some()
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
        let Some(gate) = &self.gate else {
            let identity = Identity::of(headers, query);
            return Ok(Caller { tenant: Tenant::local(), key: None, identity });
        };
        let bearer =
            headers.get(AUTHORIZATION).filter(|_| key_place == KeyPlace::OwnHeaderOrBearer);
        let bearer = bearer.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let key = headers.get(TENANT_KEY).and_then(|value| value.to_str().ok());
        let key = key.or(bearer).ok_or(Failure::NoKey)?;
        let tenant = Box::pin(gate.tenant(key)).await.map_err(|_| Failure::KeysAway)?;
        let tenant = tenant.ok_or(Failure::NoKey)?;
        let key = key.parse::<ApiKey>().ok().map(|key| key.id().clone());
        let identity = Identity::Tenant(tenant.clone());
        Ok(Caller { tenant, key, identity })
    }
}
