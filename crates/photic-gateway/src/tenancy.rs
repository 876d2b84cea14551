//! Who asks: a tenant, by a key of its own.
//!
//! Keys of providers are none of this: they pass through. Where no keys are asked for, everybody is
//! the same tenant.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use photic_fleet::{ApiKey, KeyCache, KeyId, Postgres};
use photic_store::Tenant;

use crate::failure::Failure;
use crate::headers::TENANT_KEY;
use crate::identity::Identity;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) tenant: Tenant,
    /// The name of the key it came with.
    pub(crate) key: Option<KeyId>,
    /// Whom its lessons, and what is made for it, are kept for.
    pub(crate) identity: Identity,
}

/// Lets callers in.
#[derive(Debug, Default)]
pub(crate) struct Tenancy {
    gate: Option<KeyCache<Postgres>>,
}

impl Tenancy {
    /// Lets in whoever has a key.
    pub(crate) fn by_key(keys: Postgres) -> Self {
        Self { gate: Some(KeyCache::new(keys)) }
    }

    /// Whether callers have to show a key of their tenant.
    pub(crate) const fn asks_for_keys(&self) -> bool {
        self.gate.is_some()
    }

    /// Whose request it is. On paths of our own a key may stand where keys usually do.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        own: bool,
    ) -> Result<Caller, Failure> {
        let Some(gate) = &self.gate else {
            let identity = Identity::of(headers, query);
            return Ok(Caller { tenant: Tenant::local(), key: None, identity });
        };
        let bearer = headers.get(AUTHORIZATION).filter(|_| own);
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
