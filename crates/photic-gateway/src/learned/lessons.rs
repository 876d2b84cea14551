//! The lessons that apply to one caller at one endpoint and model.

use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{Entry, tighten};
use crate::upstream::ResolvedProfile;
use photic::lesson::Quarantine;

/// The lessons that apply to one caller at one endpoint and model.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    pub(super) entries: Vec<Entry>,
    pub(crate) quarantine: Quarantine,
    /// A cache of profiles, before and after these lessons.
    over: Mutex<Vec<(Arc<ResolvedProfile>, Arc<ResolvedProfile>)>>,
}

impl Lessons {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let quarantine = Quarantine::of(entries.iter().map(|entry| &entry.lesson));
        Self { entries, quarantine, over: Mutex::default() }
    }

    /// Returns a profile with these lessons applied.
    pub(crate) fn over(&self, known: &Arc<ResolvedProfile>) -> Arc<ResolvedProfile> {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, after)) = over.iter().find(|(before, _)| Arc::ptr_eq(before, known)) {
            return Arc::clone(after);
        }
        let mut profile = known.profile.clone();
        tighten(&mut profile, &self.entries);
        let after = Arc::new(ResolvedProfile::new(profile));
        // One for each wire is enough. There are more only if the cache of profiles was cleared.
        over.truncate(7);
        over.insert(0, (Arc::clone(known), Arc::clone(&after)));
        after
    }
}
