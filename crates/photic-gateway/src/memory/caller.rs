//! Whom memory is charged to.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName};

use crate::tenancy::Caller;

/// Where callers show keys of their own.
const KEYS: [HeaderName; 3] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// A caller, as far as memory goes. It is a digest: it holds no key, and nobody can choose one to fall
/// together with another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallerId(u64);

/// Tells callers apart.
#[derive(Debug, Default)]
pub(crate) struct CallerIds(RandomState);

impl CallerIds {
    /// Names a request's caller: its tenant, where tenants have keys; else the key it shows to its provider;
    /// else the address it comes from.
    pub(crate) fn caller(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> CallerId {
        if caller.key.is_some() {
            return self.of(("tenant", caller.tenant.as_str()));
        }
        match KEYS.iter().find_map(|name| headers.get(name)) {
            Some(key) => self.of(("key", key.as_bytes())),
            None => self.of(("peer", peer)),
        }
    }

    /// An id for anything.
    pub(crate) fn of(&self, what: impl Hash) -> CallerId {
        CallerId(self.0.hash_one(what))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use photic_store::Tenant;

    use super::*;

    #[test]
    fn callers_are_told_apart_by_tenant_then_key_then_address() {
        let ids = CallerIds::default();
        let nobody = Caller { tenant: Tenant::local(), key: None };
        let with = |key: &'static str| {
            HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(key))])
        };
        let (one, other) = ("10.0.0.1".parse().ok(), "10.0.0.2".parse().ok());
        let id = |headers: &HeaderMap, peer| ids.caller(&nobody, headers, peer);
        assert_eq!(id(&with("a"), one), id(&with("a"), other));
        assert_ne!(id(&with("a"), one), id(&with("b"), one));
        assert_ne!(id(&HeaderMap::new(), one), id(&HeaderMap::new(), other));
        assert_eq!(id(&HeaderMap::new(), None), id(&HeaderMap::new(), None));
    }
}
