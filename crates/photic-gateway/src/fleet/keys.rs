//! The keys of a fleet's tenants.

use photic_fleet::{ApiKey, KeyCache, Postgres};

use crate::future::BoxFuture;
use crate::tenant::{Identity, KeyError, KeyOwner, KeyRing};

/// The keys of a fleet's tenants, in its database.
#[derive(Debug)]
pub(super) struct FleetKeys(KeyCache<Postgres>);

impl FleetKeys {
    pub(super) fn new(record: Postgres) -> Self {
        Self(KeyCache::new(record))
    }
}

impl KeyRing for FleetKeys {
    fn find<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyOwner>, KeyError>> {
        Box::pin(async move {
            let tenant = self.0.tenant(key).await.map_err(|_| KeyError::Away)?;
            let name = key.parse::<ApiKey>().ok().map(|key| key.id().as_str().to_owned());
            Ok(tenant.map(|tenant| KeyOwner {
                identity: Identity::Tenant(tenant.clone()),
                tenant,
                key: name,
                named: None,
            }))
        })
    }
}
