//! What an image costs in tokens, and the size a model really gets to see.
//!
//! Owns the published formulas, one [`Rule`] each, as pure functions of width, height and detail.
//! Which model follows which rule with which numbers is data (`profiles/*.toml`). Must never look
//! at encoded bytes to price an image, never return zero, and never decide a hard limit: providers
//! report what they billed, and these are estimates of it.

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

/// How closely the model is asked to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The provider chooses; priced as if the knob were absent.
    Auto,
    /// A thumbnail.
    Low,
    /// Between low and high; Gemini alone has a word for it.
    Medium,
    /// Resized to the model's ordinary budget.
    High,
    /// Resized as little as the model allows, or not at all.
    Original,
}

impl Detail {
    /// The name used on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Original => "original",
        }
    }

    /// The detail of that name.
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

/// An image as the model receives it: the size after the provider's own resize, and the bill.
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
        /// Most patches at `high`.
        budget: u32,
        /// Longest side at `high`, in pixels.
        max_side: u32,
        /// Tokens per patch.
        #[serde(default = "one")]
        multiplier: f64,
        /// What `original` allows; a model without it treats `original` as `high`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        original: Option<Tier>,
        /// What an absent or `auto` detail means.
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
        /// Longest padded side, in pixels.
        max_edge: u32,
        /// Most cells.
        max_tokens: u32,
    },
    /// Square crops about two thirds of the short side, one price each.
    Tiles768 {
        /// Tokens per crop.
        tile: u32,
        /// Up to this many pixels on both sides the image is a single crop.
        single: u32,
        /// Tokens per image at `low`, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<u32>,
        /// Tokens per image at `medium`, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        medium: Option<u32>,
    },
    /// A grid of cells after a resize of the long side, with optional row separators.
    Cells28Grid {
        /// Longest side, in pixels.
        max_side: u32,
        /// Cell edge in pixels.
        #[serde(default = "twenty_eight")]
        cell: u32,
        /// Tokens that end each row of cells.
        #[serde(default)]
        row_tokens: u32,
    },
    /// One price whatever the size.
    Flat {
        /// Tokens per image.
        tokens: u32,
        /// Tokens per image at `low`, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<u32>,
        /// Tokens per image at `medium`, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        medium: Option<u32>,
        /// Tokens per image at `original`, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        original: Option<u32>,
    },
    /// Sides rounded to whole cells, their product between two bounds.
    SmartResize {
        /// Cell edge in pixels.
        factor: u32,
        /// Fewest pixels; a smaller image is enlarged.
        min_pixels: u32,
        /// Most pixels; a larger one is shrunk.
        max_pixels: u32,
    },
    /// 28 px cells of four 14 px patches, under a budget of patches.
    Patches14 {
        /// Most patches.
        budget: u32,
        /// Most patches along one side.
        max_side: u32,
    },
    /// Tiles of the canvas that fits best, and the whole image as one more tile.
    Canvas {
        /// Tile edge in pixels.
        tile: u32,
        /// Most tiles.
        tiles: u32,
        /// Tokens per tile.
        tile_tokens: u32,
    },
    /// Nobody has said what an image costs: a middling estimate, and [`Rule::most_tokens`] beside it.
    #[default]
    Unknown,
}

impl Rule {
    /// What the model sees of an image of this size, and what that costs.
    ///
    /// A side of zero counts as one pixel: a header can lie, and nothing is free.
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

    /// The tokens of [`Rule::seen`] alone.
    pub fn image_tokens(&self, width: u32, height: u32, detail: Option<Detail>) -> u64 {
        self.seen(width, height, detail).tokens
    }

    /// What an image should not exceed, for budgets that must hold. Where the rule is unknown, that
    /// is the dearest of what is published for other models; else it is what the rule says.
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

/// How a number of tokens is known, the most certain first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// By a rule that the provider, or the server's own code, states for this model.
    Published,
    /// By a rule that this model is believed to follow.
    Assumed,
    /// Not at all: the number is a guess, and budgets reckon with more.
    #[default]
    Unknown,
}

impl Basis {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Assumed => "assumed",
            Self::Unknown => "unknown",
        }
    }
}

/// What base64 costs when it lands in a text slot.
///
/// A tokenizer bills it as text at about a quarter of its length. That is how a picture worth about
/// 1.5 thousand vision tokens became about a million text tokens in the report photic started from
/// (seed 000), so this number is what a ledger shows as avoided; it never prices an image.
pub const fn text_tokens(len_bytes: u64) -> u64 {
    len_bytes.div_ceil(4)
}

/// An image that costs the same at any size.
fn priced(width: u32, height: u32, tokens: u32) -> Seen {
    Seen { width, height, tokens: u64::from(tokens.max(1)) }
}

/// Width and height with the long side brought down to `max_side`, aspect kept, never enlarged.
fn fit(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    let long = width.max(height);
    let max_side = max_side.max(1);
    if long <= max_side {
        return (width, height);
    }
    (scaled(width, max_side, long), scaled(height, max_side, long))
}

/// `side * num / den` to the nearest pixel, at least one.
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
