//! The price of a turn in US dollars, at list price.

use std::sync::Arc;

use photic::reply::Usage;

use crate::upstream::ResolvedProfile;

/// The prices of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnPrice {
    profile: Option<Arc<ResolvedProfile>>,
    /// The price of an output token if it is not known, as a multiple of that of an input token.
    output: u32,
}

impl TurnPrice {
    /// Returns the prices of a profile.
    pub(crate) fn of(profile: Option<&Arc<ResolvedProfile>>, output: u32) -> Self {
        Self { profile: profile.map(Arc::clone), output }
    }

    /// Returns the price of a turn in US dollars, if its model has a list price.
    pub(crate) fn usd(&self, usage: &Usage) -> Option<f64> {
        let profile = &self.profile.as_ref()?.profile;
        let estimated = || {
            let output = usage.output.saturating_mul(self.output.into());
            profile.usd(&Usage { input: output, ..Usage::default() })
        };
        Some(profile.usd(usage)? + profile.output_usd(usage).or_else(estimated)?)
    }
}
