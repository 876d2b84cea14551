//! The token price of an image, and the size at which a model sees it.
//!
//! Owns the published formulas, one [`Rule`] each, as pure functions of width, height and detail.
//! The rule of each model and its numbers are data (`profiles/*.toml`). Must never look at encoded
//! bytes to price an image, never return zero, and never decide a hard limit: providers report what
//! they billed, and these are estimates of it.

mod canvas;
mod cells;
mod patches;
mod resize;
mod tiles;
mod unknown;

#[cfg(test)]
mod tests;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::UnknownName;

pub use canvas::canvas;
pub use cells::{cells28, cells28_grid};
pub use patches::{Tier, patch32};
pub use resize::{patches14, smart_resize};
pub use tiles::{tiles512, tiles768};
pub use unknown::unknown;

/// The level of detail that the model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The provider chooses. Priced as if no detail were stated.
    Auto,
    /// A thumbnail.
    Low,
    /// Between low and high; only Gemini has a name for it.
    Medium,
    /// Resized to the model's ordinary budget.
    High,
    /// Resized as little as the model allows, or not at all.
    Original,
}

impl Detail {
    /// Returns the name used on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Original => "original",
        }
    }

    /// Returns the detail of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|detail| detail.name() == name)
    }

    /// Every detail, from the least to the most.
    const ALL: [Self; 5] = [Self::Auto, Self::Low, Self::Medium, Self::High, Self::Original];
}

impl FromStr for Detail {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::from_name(name)
            .ok_or_else(|| UnknownName::new("detail", name, Self::ALL.map(Self::name)))
    }
}

/// An image as the model receives it: the size after the provider's own resize, and the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// Width in pixels after the provider's resize, without padding.
    pub width: u32,
    /// Height in pixels after the provider's resize, without padding.
    pub height: u32,
    /// Input tokens billed for it.
    pub tokens: u64,
}

/// A pricing formula with its numbers, as a profile's `tokens` section states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// 32 px patches under a budget, times a multiplier.
    Patch32 {
        /// Maximum number of patches at `high`.
        budget: u32,
        /// Maximum length of the longest side at `high`, in pixels.
        max_side: u32,
        /// Tokens per patch.
        #[serde(default = "one")]
        multiplier: f64,
        /// The bounds at `original`. A model without them treats `original` as `high`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        original: Option<Tier>,
        /// The detail that applies if none or `auto` is stated.
        #[serde(default = "high")]
        omitted: Detail,
    },
    /// 512 px tiles after a resize to 2048 px and then 768 px on the short side.
    Tiles512 {
        /// Tokens per image, the whole price at `low`.
        base: u32,
        /// Tokens per tile.
        tile: u32,
    },
    /// 28 px cells under an edge and a token ceiling, resized by binary search.
    Cells28 {
        /// Maximum length of the longest padded side, in pixels.
        max_edge: u32,
        /// Maximum number of cells.
        max_tokens: u32,
    },
    /// Square crops about two thirds of the short side, one price each.
    Tiles768 {
        /// Tokens per crop.
        tile: u32,
        /// An image with no side longer than this, in pixels, is a single crop.
        single: u32,
        /// Tokens per image at `low`, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<u32>,
        /// Tokens per image at `medium`, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        medium: Option<u32>,
    },
    /// A grid of cells after a resize of the long side, with optional row separators.
    Cells28Grid {
        /// Maximum length of the longest side, in pixels.
        max_side: u32,
        /// Cell edge in pixels.
        #[serde(default = "twenty_eight")]
        cell: u32,
        /// Tokens that end each row of cells.
        #[serde(default)]
        row_tokens: u32,
    },
    /// One price for every size.
    Flat {
        /// Tokens per image.
        tokens: u32,
        /// Tokens per image at `low`, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<u32>,
        /// Tokens per image at `medium`, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        medium: Option<u32>,
        /// Tokens per image at `original`, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        original: Option<u32>,
    },
    /// Sides rounded to whole cells, their product between two bounds.
    SmartResize {
        /// Cell edge in pixels.
        factor: u32,
        /// Minimum number of pixels. A smaller image is enlarged.
        min_pixels: u32,
        /// Maximum number of pixels. A larger image is shrunk.
        max_pixels: u32,
    },
    /// 28 px cells of four 14 px patches, under a budget of patches.
    Patches14 {
        /// Maximum number of patches.
        budget: u32,
        /// Maximum number of patches along one side.
        max_side: u32,
    },
    /// Tiles of the canvas that fits best, and the whole image as one more tile.
    Canvas {
        /// Tile edge in pixels.
        tile: u32,
        /// Maximum number of tiles.
        tiles: u32,
        /// Tokens per tile.
        tile_tokens: u32,
    },
    /// No known price: a middling estimate, with [`Rule::most_tokens`] as its upper bound.
    #[default]
    Unknown,
}

impl Rule {
    /// Returns the size of an image as the model sees it, and its tokens.
    ///
    /// A side of zero counts as one pixel, because a header can lie and no image is free.
    pub fn seen(&self, width: u32, height: u32, detail: Option<Detail>) -> Seen {
        let (w, h) = (width.max(1), height.max(1));
        match *self {
            Self::Patch32 { budget, max_side, multiplier, original, omitted } => {
                let detail = match detail {
                    None | Some(Detail::Auto) => omitted,
                    Some(stated) => stated,
                };
                let high = Tier { budget: Some(budget), max_side: Some(max_side) };
                let tier = match detail {
                    Detail::Low => patches::LOW,
                    Detail::Original => original.unwrap_or(high),
                    Detail::Medium | Detail::High | Detail::Auto => high,
                };
                let seen = patch32(w, h, tier, multiplier);
                if detail == Detail::Low {
                    Seen { tokens: patches::low_tokens(multiplier), ..seen }
                } else {
                    seen
                }
            }
            Self::Tiles512 { base, tile } => tiles512(w, h, base, tile, detail),
            Self::Cells28 { max_edge, max_tokens } => cells28(w, h, max_edge, max_tokens),
            Self::Tiles768 { tile, single, low, medium } => {
                let flat = match detail {
                    Some(Detail::Low) => low,
                    Some(Detail::Medium) => medium,
                    Some(Detail::High | Detail::Auto | Detail::Original) | None => None,
                };
                flat.map_or_else(|| tiles768(w, h, tile, single), |tokens| priced(w, h, tokens))
            }
            Self::Cells28Grid { max_side, cell, row_tokens } => {
                cells28_grid(w, h, max_side, cell, row_tokens)
            }
            Self::Flat { tokens, low, medium, original } => {
                let other = match detail {
                    Some(Detail::Low) => low,
                    Some(Detail::Medium) => medium,
                    Some(Detail::Original) => original,
                    Some(Detail::High | Detail::Auto) | None => None,
                };
                priced(w, h, other.unwrap_or(tokens))
            }
            Self::SmartResize { factor, min_pixels, max_pixels } => {
                smart_resize(w, h, factor, min_pixels, max_pixels)
            }
            Self::Patches14 { budget, max_side } => patches14(w, h, budget, max_side),
            Self::Canvas { tile, tiles, tile_tokens } => canvas(w, h, tile, tiles, tile_tokens),
            Self::Unknown => unknown(w, h),
        }
    }

    /// Returns the tokens of [`Rule::seen`].
    pub fn image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.seen(width, height, detail).tokens
    }

    /// Returns the maximum tokens of an image, for budgets that must hold. If the rule is unknown,
    /// that is the highest of the prices published for other models; otherwise it is the price by
    /// the rule.
    pub fn most_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        match self {
            Self::Unknown => unknown::most(width, height),
            Self::Patch32 { .. }
            | Self::Tiles512 { .. }
            | Self::Cells28 { .. }
            | Self::Tiles768 { .. }
            | Self::Cells28Grid { .. }
            | Self::Flat { .. }
            | Self::SmartResize { .. }
            | Self::Patches14 { .. }
            | Self::Canvas { .. } => self.image_tokens(width, height, detail),
        }
    }
}

/// The certainty of a number of tokens, the most certain first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// By a rule that the provider, or the server's own code, states for this model.
    Published,
    /// By a rule that this model is believed to follow.
    Assumed,
    /// By a guess. Budgets allow for more.
    #[default]
    Unknown,
}

impl Basis {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Assumed => "assumed",
            Self::Unknown => "unknown",
        }
    }
}

/// Returns the tokens of a text of this many bytes, such as base64 in a text slot.
///
/// A tokenizer bills base64 as text at about a quarter of its length. That is how a picture worth
/// about 1.5 thousand vision tokens became about a million text tokens in the report photic started
/// from (seed 000). A ledger shows this number as avoided; it never prices an image.
pub const fn text_tokens(len_bytes: u64) -> u64 {
    len_bytes.div_ceil(4)
}

/// Returns an image that costs this many tokens at any size.
fn priced(width: u32, height: u32, tokens: u32) -> Seen {
    Seen { width, height, tokens: u64::from(tokens.max(1)) }
}

/// Returns width and height with the long side reduced to `max_side`. Keeps the aspect and never
/// enlarges.
fn fit(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    let long = width.max(height);
    let max_side = max_side.max(1);
    if long <= max_side {
        return (width, height);
    }
    (scaled(width, max_side, long), scaled(height, max_side, long))
}

/// Returns `side * num / den` to the nearest pixel, at least one.
fn scaled(side: u32, num: u32, den: u32) -> u32 {
    let (side, num, den) = (u64::from(side), u64::from(num), u64::from(den.max(1)));
    ((2 * side * num + den) / (2 * den)).clamp(1, u64::from(u32::MAX)) as u32
}

fn one() -> f64 {
    1.0
}

fn high() -> Detail {
    Detail::High
}

fn twenty_eight() -> u32 {
    28
}
