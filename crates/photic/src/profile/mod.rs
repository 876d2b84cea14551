//! Profiles: dated facts about an endpoint and a model, and the choice of one for a request.
//!
//! Owns the typed shape of a profile and the questions a planner asks of it. The facts themselves
//! are data in `profiles/*.toml`, each section with its date, source and confidence. Must never
//! branch on the name of a provider or model, never read a file or a clock, and never fail: a
//! request of unknown origin gets the generic profile of its wire.

pub mod capability;
mod catalog;
mod dialect;
mod glob;
mod price;
mod sections;
mod settings;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use catalog::Catalog;
pub use dialect::{AnswerLimit, AudioPart, CallIds, DocumentPart, ImageAddress, StreamOptions};
pub use price::Price;
pub use sections::{
    Accepts, Alpha, Cache, Capability, ConsecutiveUser, Crowd, ErrorResults, Limits, Mark,
    MidSystem, Pages, Placement, Placements, Quirks, Role, Sight, Source, ToolContent,
};
pub use settings::{SettingRules, Since, Taken, ToolNames, UnknownFields};

pub use crate::media::MediaKind;
use crate::reply::Usage;
pub use crate::tokens::{Basis, Detail, Rule, Seen};
use crate::wire::Wire;

/// The reliability of a stated fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The provider's own types, documentation or server source.
    High,
    /// Official but old or self-contradicting, or measured by a third party.
    Medium,
    /// One third-party statement.
    Low,
    /// Follows from other facts.
    Derived,
    /// From memory or inference.
    Unverified,
}

/// The origin of some fields of one section of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The section: `sight`, `placement`, `accepts`, `limits`, `tokens`, `pages`, `cache`,
    /// `quirks`, `settings` or `price`.
    pub section: String,
    /// The fields of that section with this origin, sorted.
    pub fields: Vec<String>,
    /// The date on which it was true.
    pub as_of: String,
    /// The source it was read from, in plain words.
    pub source: String,
    /// The reliability of the source.
    pub confidence: Confidence,
    /// The id of the profile that states it.
    pub profile: String,
}

/// Everything known about one endpoint and model, ready to plan with.
///
/// Fields are public so that a user or a healed rejection can tighten them. Record such a change
/// with [`Profile::attribute`], so that [`Profile::provenance`] stays correct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The unique name; `model+host` if a host profile was laid over a model profile.
    pub id: String,
    /// The wire that the endpoint speaks.
    pub wire: Wire,
    /// Globs over model names.
    pub models: Vec<String>,
    /// Globs over endpoint hosts. Empty for a profile that applies wherever the model is served.
    pub hosts: Vec<String>,
    /// The kinds of media that the model perceives.
    pub sight: Sight,
    /// The placement of tool-result media.
    pub placement: Placements,
    /// The media types, sources and roles that the wire accepts.
    pub accepts: Accepts,
    /// The limits beyond which the endpoint rejects a request.
    pub limits: Limits,
    /// The token price of an image.
    pub tokens: Rule,
    /// The token price of a page of a document.
    #[serde(default)]
    pub pages: Pages,
    /// The prices and rules of the prompt cache.
    pub cache: Cache,
    /// Other peculiarities.
    pub quirks: Quirks,
    /// The settings that are refused.
    #[serde(default)]
    pub settings: SettingRules,
    /// The price of a token, if the model was named and its price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The origins of all fields.
    pub facts: Vec<Fact>,
}

/// Guessed tokens of a page if no rate is known, and guessed bytes of a page if the pages cannot be
/// counted.
const PAGE_TOKENS: u32 = 1500;
const PAGE_BYTES: usize = 50_000;

/// Returns every shipped profile, in file order.
pub fn shipped() -> &'static [Profile] {
    Catalog::shipped().profiles()
}

/// Returns the shipped profile for a request. There is always one.
///
/// The most specific model profile decides: the glob with most literal characters, tried on the
/// whole name and on what follows a provider prefix. If a host profile matches, it is laid over the
/// model profile section by section, field by field. Prices and context lengths differ within
/// families of models, so they come from a separate list, by the model's name.
pub fn resolve(wire: Wire, model: Option<&str>, host: Option<&str>) -> Profile {
    Catalog::shipped().resolve(wire, model, host)
}

/// Returns the specificity of the best glob for a model's name, or `None` if none matches. Tries
/// the globs as [`resolve`] does; more literal characters are more specific.
pub fn specificity(globs: &[String], model: &str) -> Option<usize> {
    glob::best(globs, &glob::model_names(model))
}

impl Profile {
    /// Returns the profile of a wire about which nothing else is known.
    pub fn generic(wire: Wire) -> Self {
        Catalog::shipped().generic(wire)
    }

    /// Returns the shipped profile of that id.
    pub fn by_id(id: &str) -> Option<Self> {
        Catalog::shipped().by_id(id).cloned()
    }

    /// Returns the placement of a tool result's media of this kind.
    pub const fn placement(&self, kind: MediaKind) -> Placement {
        match kind {
            MediaKind::Image => self.placement.image,
            MediaKind::Document => self.placement.document,
            MediaKind::Audio => self.placement.audio,
        }
    }

    /// Returns the model's capability to perceive media of this kind.
    pub const fn sees(&self, kind: MediaKind) -> Capability {
        match kind {
            MediaKind::Image => self.sight.images,
            MediaKind::Document => self.sight.documents,
            MediaKind::Audio => self.sight.audio,
        }
    }

    /// Returns the media types that the wire takes for this kind.
    pub fn types(&self, kind: MediaKind) -> &[String] {
        match kind {
            MediaKind::Image => &self.accepts.image,
            MediaKind::Document => &self.accepts.document,
            MediaKind::Audio => &self.accepts.audio,
        }
    }

    /// Returns `true` if the wire takes this media type. Ignores case and parameters.
    pub fn accepts_type(&self, kind: MediaKind, media_type: &str) -> bool {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        self.types(kind).iter().any(|accepted| accepted.eq_ignore_ascii_case(essence))
    }

    /// Returns `true` if the wire takes media from this source.
    pub fn accepts_source(&self, source: Source) -> bool {
        self.accepts.sources.contains(&source)
    }

    /// Returns `true` if a message of this role may hold an image.
    pub fn holds_images(&self, role: Role) -> bool {
        self.accepts.image_roles.contains(&role)
    }

    /// Returns the size of an image as the model sees it, and its tokens.
    ///
    /// Without a detail, the model's default for a part that states none applies.
    /// [`Quirks::detail`] holds the detail that photic states on a part that it writes.
    pub fn seen(&self, width: u32, height: u32, detail: Option<Detail>) -> Seen {
        self.tokens.seen(width, height, detail)
    }

    /// Returns the tokens of [`Profile::seen`].
    pub fn image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.seen(width, height, detail).tokens
    }

    /// Returns the maximum tokens of an image, which are at least those of [`Profile::seen`].
    pub fn most_image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.tokens.most_tokens(width, height, detail)
    }

    /// Returns how the tokens of [`Profile::seen`] are known.
    pub fn basis(&self) -> Basis {
        if self.tokens == Rule::Unknown {
            return Basis::Unknown;
        }
        self.basis_of("tokens")
    }

    /// Returns how the numbers of a section are known.
    fn basis_of(&self, section: &str) -> Basis {
        // A rule without a source is assumed, and so is one whose numbers are.
        let believed = |fact: &&Fact| match fact.confidence {
            Confidence::High | Confidence::Medium => false,
            Confidence::Low | Confidence::Derived | Confidence::Unverified => true,
        };
        let facts = || self.facts.iter().filter(|fact| fact.section == section);
        if facts().next().is_none() || facts().any(|fact| believed(&fact)) {
            Basis::Assumed
        } else {
            Basis::Published
        }
    }

    /// Returns the tokens of a document of this many pages, and how they are known.
    ///
    /// If the number of pages or the rate is unknown, so is the price. The tokens are then a guess,
    /// by the bytes of the document if its pages are unknown.
    pub fn document_tokens(
        &self,
        pages: Option<u32>,
        bytes: usize,
        detail: Option<Detail>,
    ) -> (u64, Basis) {
        let rate = self.pages.tokens_at(detail);
        let basis = match (pages, rate) {
            (Some(_), Some(_)) => self.basis_of("pages"),
            (None, _) | (_, None) => Basis::Unknown,
        };
        let pages = pages.map_or_else(|| bytes.div_ceil(PAGE_BYTES) as u64, u64::from).max(1);
        (pages.saturating_mul(u64::from(rate.unwrap_or(PAGE_TOKENS))), basis)
    }

    /// Returns the provider's charge for the input of a request, in US dollars at list price.
    pub fn usd(&self, usage: &Usage) -> Option<f64> {
        let Usage { input, cache_read, cache_write, .. } = *usage;
        let plain = input.saturating_sub(cache_read.saturating_add(cache_write));
        let (read, write) =
            (cache_read as f64 * self.cache.read, cache_write as f64 * self.cache.write);
        self.price.map(|price| price.of(plain as f64 + read + write))
    }

    /// Returns the provider's charge for the output of a request, in US dollars at list price. Returns
    /// `None` if its price is not known.
    pub fn output_usd(&self, usage: &Usage) -> Option<f64> {
        let price = self.price?.output_usd_per_million?;
        Some(usage.output as f64 * price / 1e6)
    }

    /// Returns the origin of each field, oldest layer first.
    pub fn provenance(&self) -> &[Fact] {
        &self.facts
    }

    /// Records a new origin for some fields, and removes them from their former one.
    pub fn attribute(&mut self, fact: Fact) {
        for former in &mut self.facts {
            if former.section == fact.section {
                former.fields.retain(|field| !fact.fields.contains(field));
            }
        }
        self.facts.retain(|former| !former.fields.is_empty());
        if !fact.fields.is_empty() {
            self.facts.push(fact);
        }
    }

    /// Creates a profile without facts: the last resort if the shipped data is unreadable.
    fn bare(wire: Wire) -> Self {
        Self {
            id: wire.name().to_owned(),
            wire,
            models: vec!["*".to_owned()],
            hosts: Vec::new(),
            sight: Sight::default(),
            placement: Placements::default(),
            accepts: Accepts::default(),
            limits: Limits::default(),
            tokens: Rule::default(),
            pages: Pages::default(),
            cache: Cache::default(),
            quirks: Quirks::default(),
            settings: SettingRules::default(),
            price: None,
            facts: Vec::new(),
        }
    }
}
