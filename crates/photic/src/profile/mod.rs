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

/// How far a stated fact can be trusted.
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

/// Who said what: the origin of some fields of one section of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The section: `sight`, `placement`, `accepts`, `limits`, `tokens`, `pages`, `cache`, `quirks`,
    /// `settings` or `price`.
    pub section: String,
    /// The fields of that section this origin decides, sorted.
    pub fields: Vec<String>,
    /// When it was true.
    pub as_of: String,
    /// Where it was read, in plain words.
    pub source: String,
    /// How far to trust it.
    pub confidence: Confidence,
    /// The id of the profile that states it.
    pub profile: String,
}

/// Everything known about one endpoint and model, ready to plan with.
///
/// Fields are public so that a user or a healed rejection can tighten them; say so with
/// [`Profile::attribute`], and [`Profile::provenance`] stays honest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its unique name; `model+host` when a host profile was laid over a model profile.
    pub id: String,
    /// The wire it speaks.
    pub wire: Wire,
    /// Globs over model names.
    pub models: Vec<String>,
    /// Globs over endpoint hosts; empty for a profile that holds wherever the model is served.
    pub hosts: Vec<String>,
    /// What the model perceives.
    pub sight: Sight,
    /// Where tool-result media goes.
    pub placement: Placements,
    /// What the wire takes.
    pub accepts: Accepts,
    /// What makes the endpoint reject a request.
    pub limits: Limits,
    /// What an image costs.
    pub tokens: Rule,
    /// What a page of a document costs.
    #[serde(default)]
    pub pages: Pages,
    /// What the prompt cache costs and saves.
    pub cache: Cache,
    /// What else is peculiar.
    pub quirks: Quirks,
    /// Which settings are refused.
    #[serde(default)]
    pub settings: SettingRules,
    /// What a token costs, if the model was named and its price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Where all of this comes from.
    pub facts: Vec<Fact>,
}

/// What a page is guessed to cost where no rate is known, and the bytes that are guessed to hold one
/// where the pages cannot be counted.
const PAGE_TOKENS: u32 = 1500;
const PAGE_BYTES: usize = 50_000;

/// Every shipped profile, in file order.
pub fn shipped() -> &'static [Profile] {
    Catalog::shipped().profiles()
}

/// The shipped profile for a request; always something.
///
/// The most specific model profile decides (the glob with most literal characters, tried on the
/// whole name and on what follows a provider prefix); a profile of the host, if one matches, is
/// laid over it section by section, field by field. Prices and contexts differ within families of
/// models, so they come from a list of their own, by the model's name.
pub fn resolve(wire: Wire, model: Option<&str>, host: Option<&str>) -> Profile {
    Catalog::shipped().resolve(wire, model, host)
}

/// How well globs match a model's name, tried as [`resolve`] tries them: the literal characters of
/// the best, or `None` if none matches.
pub fn specificity(globs: &[String], model: &str) -> Option<usize> {
    glob::best(globs, &glob::model_names(model))
}

impl Profile {
    /// The profile of a wire about which nothing else is known.
    pub fn generic(wire: Wire) -> Self {
        Catalog::shipped().generic(wire)
    }

    /// The shipped profile of that id.
    pub fn by_id(id: &str) -> Option<Self> {
        Catalog::shipped().by_id(id).cloned()
    }

    /// Where a tool result's media of this kind goes.
    pub const fn placement(&self, kind: MediaKind) -> Placement {
        match kind {
            MediaKind::Image => self.placement.image,
            MediaKind::Document => self.placement.document,
            MediaKind::Audio => self.placement.audio,
        }
    }

    /// Whether the model perceives this kind at all.
    pub const fn sees(&self, kind: MediaKind) -> Capability {
        match kind {
            MediaKind::Image => self.sight.images,
            MediaKind::Document => self.sight.documents,
            MediaKind::Audio => self.sight.audio,
        }
    }

    /// The media types the wire takes for this kind.
    pub fn types(&self, kind: MediaKind) -> &[String] {
        match kind {
            MediaKind::Image => &self.accepts.image,
            MediaKind::Document => &self.accepts.document,
            MediaKind::Audio => &self.accepts.audio,
        }
    }

    /// Whether the wire takes this media type; case and parameters do not matter.
    pub fn accepts_type(&self, kind: MediaKind, media_type: &str) -> bool {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        self.types(kind).iter().any(|accepted| accepted.eq_ignore_ascii_case(essence))
    }

    /// Whether media may come this way.
    pub fn accepts_source(&self, source: Source) -> bool {
        self.accepts.sources.contains(&source)
    }

    /// Whether a message of this role may hold an image.
    pub fn holds_images(&self, role: Role) -> bool {
        self.accepts.image_roles.contains(&role)
    }

    /// What the model sees of an image and what it costs.
    ///
    /// An absent detail is what the model assumes of a part that states none. What photic itself
    /// states on a part that it writes is in [`Quirks::detail`].
    pub fn seen(&self, width: u32, height: u32, detail: Option<Detail>) -> Seen {
        self.tokens.seen(width, height, detail)
    }

    /// The tokens of [`Profile::seen`] alone.
    pub fn image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.seen(width, height, detail).tokens
    }

    /// What an image should not exceed, however its price is known; at least its tokens.
    pub fn most_image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.tokens.most_tokens(width, height, detail)
    }

    /// How what [`Profile::seen`] says of tokens is known.
    pub fn basis(&self) -> Basis {
        if self.tokens == Rule::Unknown {
            return Basis::Unknown;
        }
        self.basis_of("tokens")
    }

    /// How the numbers of a section are known, if there are any.
    fn basis_of(&self, section: &str) -> Basis {
        // A rule that nobody vouches for is a belief, and so is one whose numbers are.
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

    /// What documents of so many pages cost, and how that is known.
    ///
    /// Where the number of pages or the rate is unknown, so is the price: then the number is a guess
    /// by the bytes of the document.
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

    /// What the provider charges for reading a request, in US dollars at list price.
    pub fn usd(&self, usage: &Usage) -> Option<f64> {
        let Usage { input, cache_read, cache_write, .. } = *usage;
        let plain = input.saturating_sub(cache_read.saturating_add(cache_write));
        let (read, write) =
            (cache_read as f64 * self.cache.read, cache_write as f64 * self.cache.write);
        self.price.map(|price| price.of(plain as f64 + read + write))
    }

    /// Who stated each field, oldest layer first.
    pub fn provenance(&self) -> &[Fact] {
        &self.facts
    }

    /// Records a new origin for some fields, which takes them away from their former one.
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

    /// A profile without facts: the last resort should the shipped data ever be unreadable.
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
