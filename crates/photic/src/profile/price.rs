//! Prices and context lengths of models. They differ between models of one family, so they come as
//! a list by name beside the profiles, not as sections of them.

use serde::{Deserialize, Serialize};

use super::{Confidence, Fact, Profile, glob};

/// The list price of a model's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars for a million input tokens that are neither read from the cache nor written to
    /// it.
    pub input_usd_per_million: f64,
    /// US dollars for a million output tokens, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_usd_per_million: Option<f64>,
}

impl Price {
    /// Returns the price of this many input tokens, in US dollars.
    pub fn of(self, tokens: f64) -> f64 {
        tokens * self.input_usd_per_million / 1e6
    }
}

/// An entry of the price list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Priced {
    /// Globs over model names.
    models: Vec<String>,
    as_of: String,
    source: String,
    confidence: Confidence,
    input_usd_per_million: Option<f64>,
    output_usd_per_million: Option<f64>,
    context_tokens: Option<u64>,
}

impl Priced {
    /// Returns a description of what is wrong with the entry, if anything is.
    pub(super) fn problem(&self) -> Option<String> {
        let wrong = |price: f64| !price.is_finite() || price < 0.0;
        let prices = [self.input_usd_per_million, self.output_usd_per_million];
        prices
            .into_iter()
            .flatten()
            .find(|&price| wrong(price))
            .map(|price| format!("price of {:?}: {price} is no price", self.models))
    }

    fn fact(&self, section: &str, field: &str) -> Fact {
        Fact {
            section: section.to_owned(),
            fields: vec![field.to_owned()],
            as_of: self.as_of.clone(),
            source: self.source.clone(),
            confidence: self.confidence,
            profile: "prices".to_owned(),
        }
    }
}

/// Writes the most specific entry of the list into a profile; of equals, the later one. A context
/// length that the profile states already stays, because an endpoint may offer less than the model
/// could.
pub(super) fn apply(list: &[Priced], models: &[&str], profile: &mut Profile) {
    let ranked = list.iter().filter_map(|entry| Some((glob::best(&entry.models, models)?, entry)));
    let Some((_, entry)) = ranked.max_by_key(|(rank, _)| *rank) else { return };
    if let Some(input_usd_per_million) = entry.input_usd_per_million {
        let output_usd_per_million = entry.output_usd_per_million;
        profile.price = Some(Price { input_usd_per_million, output_usd_per_million });
        let mut fact = entry.fact("price", "input_usd_per_million");
        fact.fields.extend(output_usd_per_million.map(|_| "output_usd_per_million".to_owned()));
        profile.attribute(fact);
    }
    if profile.limits.context_tokens.is_none() && entry.context_tokens.is_some() {
        profile.limits.context_tokens = entry.context_tokens;
        profile.attribute(entry.fact("limits", "context_tokens"));
    }
}
