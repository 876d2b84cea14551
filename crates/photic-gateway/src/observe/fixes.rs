//! The fixes of a request, as headers, logs and metrics show them.

use std::collections::BTreeMap;

use photic::Decision;

/// The number of fixes in a request, by name.
#[derive(Debug, Default)]
pub(crate) struct Fixes(BTreeMap<&'static str, usize>);

impl Fixes {
    /// Counts decisions.
    pub(crate) fn of(decisions: &[Decision]) -> Self {
        let mut counts = BTreeMap::new();
        for decision in decisions {
            *counts.entry(decision.did.name()).or_default() += 1;
        }
        Self(counts)
    }

    /// Returns the count of each fix.
    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.0
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
