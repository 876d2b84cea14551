//! Whom memory is charged to.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;

use crate::identity::Identity;

/// A caller, as far as memory goes. It is a digest: it holds no key, and nobody can choose one to fall
/// together with another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallerId(u64);

/// Tells callers apart.
#[derive(Debug, Default)]
pub(crate) struct CallerIds(RandomState);

impl CallerIds {
    /// Names a request's caller: who it is, or the address it comes from where nobody can tell.
    pub(crate) fn caller(&self, who: &Identity, peer: IpAddr) -> CallerId {
        match who {
            Identity::Nobody => self.of(("peer", peer)),
            known => self.of(known),
        }
    }

    /// An id for anything.
    pub(crate) fn of(&self, what: impl Hash) -> CallerId {
        CallerId(self.0.hash_one(what))
    }
}

#[cfg(test)]
mod tests {
    use photic_store::Tenant;

    use super::*;

    #[test]
    fn callers_without_a_name_are_told_apart_by_their_address() {
        let ids = CallerIds::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let tenant = |name: &str| Identity::Tenant(Tenant::new(name));
        assert_eq!(ids.caller(&tenant("a"), one), ids.caller(&tenant("a"), other));
        assert_ne!(ids.caller(&tenant("a"), one), ids.caller(&tenant("b"), one));
        assert_ne!(ids.caller(&Identity::Nobody, one), ids.caller(&Identity::Nobody, other));
        assert_eq!(ids.caller(&Identity::Nobody, one), ids.caller(&Identity::Nobody, one));
    }
}
