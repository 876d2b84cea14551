//! 32 px patches: the rule of the patch models in the OpenAI images-vision guide.
//!
//! Owns the two-step shrink, which the guide defines in floating point. Must keep its order of
//! operations: `floor` after another order gives other sizes.

use serde::{Deserialize, Serialize};

use super::{Seen, fit};

/// Side of a patch in pixels.
const PATCH: u32 = 32;

/// `low` is a 512 px version of the image.
pub(super) const LOW: Tier = Tier { budget: None, max_side: Some(512) };

/// The bounds that one detail puts on an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Maximum number of patches. `None` means that no image shrinks for their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Maximum length of the longest side in pixels. `None` means that no image shrinks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_side: Option<u32>,
}

/// Fits the long side, then shrinks until the patches fit the budget, then multiplies.
pub fn patch32(width: u32, height: u32, tier: Tier, multiplier: f64) -> Seen {
    let (mut w, mut h) = (width.max(1), height.max(1));
    if let Some(max_side) = tier.max_side {
        (w, h) = fit(w, h, max_side);
    }
    if let Some(budget) = tier.budget.filter(|&budget| patches(w, h) > u64::from(budget)) {
        (w, h) = shrink(w, h, budget);
    }
    Seen { width: w, height: h, tokens: multiplied(patches(w, h), multiplier) }
}

/// Returns the price of `low`. The guide speaks of a 512 by 512 version, so the whole square is
/// billed whatever the aspect.
pub(super) fn low_tokens(multiplier: f64) -> u64 {
    multiplied(patches(512, 512), multiplier)
}

/// Shrinks an image to a budget of patches. The second factor makes both sides whole patches, so
/// that a partial row is not paid for.
fn shrink(width: u32, height: u32, budget: u32) -> (u32, u32) {
    let (w, h, patch) = (f64::from(width), f64::from(height), f64::from(PATCH));
    let s = (patch * patch * f64::from(budget) / (w * h)).sqrt();
    let (across, down) = (w * s / patch, h * s / patch);
    let whole = (across.floor() / across).min(down.floor() / down);
    // A sliver less than one patch wide would scale to nothing; it keeps the first scale.
    let s = if whole > 0.0 { s * whole } else { s };
    (((w * s).floor() as u32).max(1), ((h * s).floor() as u32).max(1))
}

fn patches(width: u32, height: u32) -> u64 {
    u64::from(width.div_ceil(PATCH)) * u64::from(height.div_ceil(PATCH))
}

/// Multiplies in thousandths, because 1.2 has no exact binary form and a ceiling would show it.
fn multiplied(patches: u64, multiplier: f64) -> u64 {
    let thousandths = ((multiplier * 1000.0).round() as u64).max(1);
    patches.saturating_mul(thousandths).div_ceil(1000)
}
