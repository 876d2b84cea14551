//! Whom requests go to and what is known about them, each put together once for a wire and a model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use photic::{Profile, Wire};

use super::upstreams::{Upstream, Upstreams};

/// Model names come from callers; past this many the list starts over.
const MAX_NAMES: usize = 512;
/// A longer name is looked up every time.
const MAX_NAME_LENGTH: usize = 200;

/// The profiles in use.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// By model, for each wire: a list for each, so that nothing is copied to look something up.
    known: Mutex<[BTreeMap<String, ResolvedRoute>; Wire::ALL.len()]>,
}

/// Whom a request goes to.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedRoute {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) known: Arc<ResolvedProfile>,
}

/// A profile, and what pictures made for it depend on.
#[derive(Debug)]
pub(crate) struct ResolvedProfile {
    pub(crate) profile: Profile,
    /// Differs where a picture might be made differently.
    pub(crate) fingerprint: [u8; 32],
}

impl Profiles {
    /// For a request that came in this wire; `None` if nobody serves it.
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
    pub(crate) fn new(profile: Profile) -> Self {
        // Whatever is said about the endpoint: two answers that differ in nothing that matters
        // cost one picture made twice.
        let said = serde_json::to_vec(&profile).unwrap_or_default();
        let fingerprint = *blake3::hash(&said).as_bytes();
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
