//! What was done to a request, as headers, logs and metrics tell it.

use std::collections::BTreeMap;

use photic::Decision;

/// What was done to a request, counted.
#[derive(Debug, Default)]
pub(crate) struct Fixes(BTreeMap<&'static str, usize>);

impl Fixes {
    pub(crate) fn of(decisions: &[Decision]) -> Self {
        let mut counts = BTreeMap::new();
        for decision in decisions {
            *counts.entry(decision.did.name()).or_default() += 1;
        }
        Self(counts)
    }

    /// Each with how often.
    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.values().sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    /// As in `hoisted=2, filled_empty=1`.
    pub(crate) fn list(&self) -> String {
        let each: Vec<String> =
            self.0.iter().map(|(name, count)| format!("{name}={count}")).collect();
        each.join(", ")
    }
}
