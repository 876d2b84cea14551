//! Caches the upstream and the profile for each wire and model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use photic::Profile;

use super::model_routes::Picked;
use super::provider::Upstream;
use super::upstreams::Upstreams;
use crate::config::NamedPrefix;
use crate::http::Endpoint;

/// Maximum number of model names per endpoint and prefix. Callers choose the names, so beyond it
/// they are forgotten.
const MAX_NAMES: usize = 512;
/// Maximum length of a cached model name. A longer one is resolved every time.
const MAX_NAME_LENGTH: usize = 200;

/// Routes by prefix, then by model, so that a lookup copies no name. The prefixes are those of the
/// settings; requests without one have the empty one.
type KnownRoutes = BTreeMap<Arc<str>, BTreeMap<String, ResolvedRoute>>;

/// A cache of resolved routes.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// By endpoint.
    known: Mutex<Vec<KnownRoutes>>,
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
    /// Returns the route of a request to this endpoint, or `None` if no upstream serves it.
    pub(crate) fn of(
        &self,
        upstreams: &Upstreams,
        endpoint: Endpoint,
        model: Option<&str>,
        prefix: Option<&NamedPrefix>,
    ) -> Option<ResolvedRoute> {
        let name = model.unwrap_or_default();
        let behind = prefix.map(|prefix| &*prefix.0).unwrap_or_default();
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize_with(Endpoint::count(), BTreeMap::new);
        let known = &mut all[endpoint.index()];
        if let Some(found) = known.get(behind).and_then(|known| known.get(name)) {
            return Some(found.clone());
        }
        let model = model.filter(|name| !name.is_empty());
        let upstream = Arc::clone(upstreams.choose(endpoint.served_by(), model, prefix)?);
        let found = resolved(upstream, endpoint, model);
        let known = known.entry(behind.into()).or_default();
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        if name.len() <= MAX_NAME_LENGTH {
            known.insert(name.to_owned(), found.clone());
        }
        Some(found)
    }
}

impl Profiles {
    /// Returns the route of a request to this endpoint that goes to a picked upstream.
    pub(crate) fn of_picked(
        &self,
        picked: &Picked,
        endpoint: Endpoint,
        model: &str,
    ) -> ResolvedRoute {
        let upstream = &picked.candidate().upstream;
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize_with(Endpoint::count(), BTreeMap::new);
        let known = &mut all[endpoint.index()];
        // No prefix of a path begins with a slash.
        let name = upstream.key();
        if let Some(found) = known.get(name).and_then(|known| known.get(model)) {
            return found.clone();
        }
        let found = resolved(Arc::clone(upstream), endpoint, Some(model));
        let known = known.entry(name.into()).or_default();
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        if model.len() <= MAX_NAME_LENGTH {
            known.insert(model.to_owned(), found.clone());
        }
        found
    }
}

/// Resolves the profile of a model at an upstream.
fn resolved(upstream: Arc<Upstream>, endpoint: Endpoint, model: Option<&str>) -> ResolvedRoute {
    let host = endpoint.profile_host().filter(|_| upstream.serves(endpoint));
    let host = host.unwrap_or_else(|| upstream.host());
    let profile = photic::profile::resolve(upstream.speaks(endpoint), model, Some(host));
    ResolvedRoute { upstream, known: Arc::new(ResolvedProfile::new(profile)) }
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
    use photic::Wire;

    use super::*;
    use crate::config::Config;

    #[test]
    fn each_wire_and_model_has_its_own_and_keeps_it() {
        let config = "[[upstream]]\nurl='http://a'\n[[upstream]]\nurl='http://b'\n\
                      wire='anthropic'\nmodels=['b*']";
        let upstreams = Upstreams::new(&Config::parse(config).unwrap().upstream).unwrap();
        let profiles = Profiles::default();
        let of = |wire: Wire, model| profiles.of(&upstreams, wire.into(), model, None).unwrap();
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
            assert!(profiles.of(&upstreams, Wire::Anthropic.into(), Some(&name), None).is_some());
        }
        let all = profiles.known.lock().unwrap();
        assert_eq!(all[Wire::Anthropic as usize][""].len(), 9);
    }

    #[test]
    fn a_model_is_not_taken_for_a_prefix() {
        let mut config =
            Config::parse("[[upstream]]\nurl='http://all'\n[[upstream]]\nurl='http://azure'")
                .unwrap()
                .upstream;
        config[1].prefix = Some("azure".to_owned());
        let upstreams = Upstreams::new(&config).unwrap();
        let profiles = Profiles::default();
        let azure = NamedPrefix("azure".into());
        let host = |model, prefix| {
            let found = profiles.of(&upstreams, Wire::OpenAiChat.into(), Some(model), prefix);
            found.unwrap().upstream.host().to_owned()
        };
        assert_eq!(host("azure\ngpt-4o", None), "all");
        assert_eq!(host("gpt-4o", Some(&azure)), "azure");
    }
}
