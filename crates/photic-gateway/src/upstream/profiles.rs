//! Caches the upstream and the profile for each wire and model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use photic::{Profile, Wire};

use super::upstreams::{Upstream, Upstreams};

/// Maximum number of model names per wire. Callers choose the names, so beyond it the cache is
/// cleared.
const MAX_NAMES: usize = 512;
/// Maximum length of a cached model name. A longer one is resolved every time.
const MAX_NAME_LENGTH: usize = 200;

/// A cache of resolved routes.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// By wire, then by model, so that a lookup does not copy the name.
    known: Mutex<[BTreeMap<String, ResolvedRoute>; Wire::ALL.len()]>,
}

/// The upstream of a request, and its profile.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedRoute {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) known: Arc<ResolvedProfile>,
}

/// A profile with its fingerprint.
#[derive(Debug)]
pub(crate) struct ResolvedProfile {
    pub(crate) profile: Profile,
    /// Hash of the profile. Prepared images are cached under it.
    pub(crate) fingerprint: [u8; 32],
}

impl Profiles {
    /// Returns the route of a request on this wire, or `None` if no upstream serves it.
    pub(crate) fn of(
        &self,
        upstreams: &Upstreams,
        wire: Wire,
        model: Option<&str>,
    ) -> Option<ResolvedRoute> {
        let name = model.unwrap_or_default();
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut all[wire as usize];
        if let Some(found) = known.get(name) {
            return Some(found.clone());
        }
        let model = model.filter(|name| !name.is_empty());
        let upstream = Arc::clone(upstreams.choose(wire, model)?);
        let profile = photic::profile::resolve(upstream.speaks(wire), model, Some(upstream.host()));
        let found = ResolvedRoute { upstream, known: Arc::new(ResolvedProfile::new(profile)) };
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        if name.len() <= MAX_NAME_LENGTH {
            known.insert(name.to_owned(), found.clone());
        }
        Some(found)
    }
}

impl ResolvedProfile {
    /// Computes the fingerprint of a profile.
    pub(crate) fn new(profile: Profile) -> Self {
        // The whole profile is hashed. At worst, two profiles that differ in a field without effect
        // cost one image prepared twice.
        let json = serde_json::to_vec(&profile).unwrap_or_default();
        let fingerprint = *blake3::hash(&json).as_bytes();
        Self { profile, fingerprint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn each_wire_and_model_has_its_own_and_keeps_it() {
        let config = "[[upstream]]\nurl='http://a'\n[[upstream]]\nurl='http://b'\n\
                      wire='anthropic'\nmodels=['b*']";
        let upstreams = Upstreams::new(&Config::parse(config).unwrap().upstream).unwrap();
        let profiles = Profiles::default();
        let of = |wire, model| profiles.of(&upstreams, wire, model).unwrap();
        // Twice: the second time from the list.
        for _ in 0..2 {
            for wire in Wire::ALL {
                for (model, host) in
                    [(None, "a"), (Some(""), "a"), (Some("c"), "a"), (Some("b1"), "b")]
                {
                    let found = of(wire, model);
                    assert_eq!(found.upstream.host(), host, "{wire:?} {model:?}");
                    let speaks = if host == "b" { Wire::Anthropic } else { wire };
                    let profile = photic::profile::resolve(speaks, model, Some(host));
                    assert_eq!(found.known.profile, profile, "{wire:?} {model:?}");
                }
            }
        }
        let (one, two) = (of(Wire::OpenAiChat, Some("c")), of(Wire::OpenAiChat, Some("c")));
        assert!(Arc::ptr_eq(&one.known, &two.known));
    }

    #[test]
    fn names_are_bounded() {
        let upstreams = Upstreams::new(&[]).unwrap();
        let profiles = Profiles::default();
        let long = "m".repeat(MAX_NAME_LENGTH + 1);
        for name in (0..MAX_NAMES + 9).map(|number| number.to_string()).chain([long]) {
            assert!(profiles.of(&upstreams, Wire::Anthropic, Some(&name)).is_some());
        }
        let all = profiles.known.lock().unwrap();
        assert_eq!(all[Wire::Anthropic as usize].len(), 9);
    }
}
