//! The fixes of a request, as headers, logs and metrics show them.

use std::collections::BTreeMap;

use photic::Decision;

/// The fixes of media.
const MEDIA: [&str; 5] = ["hoisted", "rewrote", "remade", "fetched", "not_shown"];

/// The number of fixes in a request, by name.
#[derive(Debug, Default)]
pub(crate) struct Fixes(BTreeMap<&'static str, usize>);

impl Fixes {
    /// The fixes that show the model an image it would not have seen.
    pub(crate) const MADE_VISIBLE: [&'static str; 2] = ["hoisted", "rewrote"];

    /// Counts decisions.
    pub(crate) fn of(decisions: &[Decision]) -> Self {
        let mut counts = BTreeMap::new();
        for decision in decisions {
            *counts.entry(decision.did.name()).or_default() += 1;
        }
        Self(counts)
    }

    /// Adds the fixes of another request.
    pub(crate) fn add(&mut self, others: &Self) {
        for (name, count) in others.iter() {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// Returns the count of each fix.
    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.0
    }

    /// Returns `true` if one of the fixes is about media.
    pub(crate) fn touch_media(&self) -> bool {
        MEDIA.iter().any(|name| self.0.contains_key(name))
    }

    /// Returns the number of all fixes.
    pub(crate) fn count(&self) -> usize {
        self.0.values().sum()
    }

    /// Iterates over the fixes and their counts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    /// Returns a list like `hoisted=2, filled_empty=1`.
    pub(crate) fn list(&self) -> String {
        let each: Vec<String> =
            self.0.iter().map(|(name, count)| format!("{name}={count}")).collect();
        each.join(", ")
    }
}
