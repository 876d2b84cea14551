//! Profiles of the endpoints and models in use, each put together once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use photic::{Profile, Wire};

/// Model names come from callers; past this many the list starts over.
const MOST: usize = 512;

/// The profiles in use.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    known: Mutex<BTreeMap<Question, Arc<Known>>>,
}

/// Wire, model, host.
type Question = (Wire, Option<String>, String);

/// A profile, and what pictures made for it depend on.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) profile: Profile,
    /// Differs where a picture might be made differently.
    pub(crate) fingerprint: [u8; 32],
}

impl Profiles {
    pub(crate) fn of(&self, wire: Wire, model: Option<&str>, host: &str) -> Arc<Known> {
        let question = (wire, model.map(str::to_owned), host.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&question) {
            return Arc::clone(found);
        }
        if known.len() >= MOST {
            known.clear();
        }
        let found = Arc::new(Known::new(photic::profile::resolve(wire, model, Some(host))));
        known.insert(question, Arc::clone(&found));
        found
    }
}

impl Known {
    pub(crate) fn new(profile: Profile) -> Self {
        // Whatever is said about the endpoint: two answers that differ in nothing that matters
        // cost one picture made twice.
        let said = serde_json::to_vec(&profile).unwrap_or_default();
        let fingerprint = *blake3::hash(&said).as_bytes();
        Self { profile, fingerprint }
    }
}
