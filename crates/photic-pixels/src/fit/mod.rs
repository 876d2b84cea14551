//! Chooses the size of a view so that the provider does not scale it again.
//!
//! Searches for the largest size that the provider's own resize leaves unchanged, under every limit
//! of a profile, and cuts large sources into tiles. How providers resize is data of `photic`; no
//! provider is named here. A picture is enlarged only by a whole factor, and never distorted.

mod tiles;

use photic::Profile;
use photic::tokens::Detail;
use serde::Serialize;

pub use tiles::{MAX_TILES, OVERLAP, Tiling, tiles, tiles_within};

/// Longest side at [`Fidelity::Glance`]: the size to which every provider's `low` shrinks.
const GLANCE_EDGE: u32 = 512;

/// Longest side at [`Fidelity::Read`]. A request with many larger images would be rejected as a
/// whole (`photic::profile::Crowd`).
const SAFE_EDGE: u32 = 2000;

/// Images that are smaller than this on every side are enlarged: models see them badly.
const TINY_EDGE: u32 = 200;

/// Side of the patches in [`photic::profile::Limits::patches`].
const PATCH: u32 = 32;

/// The level of detail of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// A thumbnail of at most 512 px, to tell what the picture is.
    Glance,
    /// As large as reading needs and a growing session can afford.
    #[default]
    Read,
    /// As large as the endpoint takes, for exact details.
    Pixel,
}

impl Fidelity {
    /// All levels, from cheapest to most expensive.
    pub const ALL: [Self; 3] = [Self::Glance, Self::Read, Self::Pixel];

    /// The name used in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Glance => "glance",
            Self::Read => "read",
            Self::Pixel => "pixel",
        }
    }

    /// Finds a level by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fidelity| fidelity.name() == name)
    }

    /// The `detail` to state in the request; `None` if the endpoint has no such setting.
    pub fn detail(self, profile: &Profile) -> Option<Detail> {
        let wanted = match self {
            Self::Glance => Detail::Low,
            Self::Read => return None,
            Self::Pixel => Detail::Original,
        };
        profile.quirks.details.contains(&wanted).then_some(wanted)
    }
}

/// The caller's limits, in addition to those of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Longest side in pixels.
    pub edge: Option<u32>,
    /// Largest number of bytes of the encoded image.
    pub bytes: Option<u64>,
    /// Shortest side to which an image is shrunk to meet `bytes`.
    pub floor: u32,
}

impl Default for Caps {
    fn default() -> Self {
        Self { edge: None, bytes: None, floor: 100 }
    }
}

/// A named set of caps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// 1568 px, 500 KiB, and nothing below 100 px.
    Seed003,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 1] = [Self::Seed003];

    /// The name used in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed003 => "seed003",
        }
    }

    /// Finds a preset by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// The caps of the preset.
    pub const fn caps(self) -> Caps {
        match self {
            Self::Seed003 => Caps { edge: Some(1568), bytes: Some(500 << 10), floor: 100 },
        }
    }
}

/// The size of an image to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FittedSize {
    /// Width of the image to send.
    pub width: u32,
    /// Height of the image to send.
    pub height: u32,
    /// Size of the part, from the top left, that shows the source. It is smaller than the image
    /// only if a narrow image had to be padded to the shortest side the endpoint takes.
    pub content: (u32, u32),
    /// Whole factor by which a tiny source is enlarged; 1 for all others.
    pub upscale: u32,
    /// The `detail` to state in the request for this size to hold.
    pub detail: Option<Detail>,
    /// Price of the image in tokens.
    pub tokens: u64,
}

/// The largest size that the provider leaves unchanged, within every limit of the profile.
///
/// # Examples
///
/// ```
/// use photic::{Profile, Wire};
/// use photic_pixels::fit::{Fidelity, fit};
///
/// let profile = Profile::generic(Wire::Anthropic);
/// let size = fit((4000, 3000), &profile, Fidelity::Glance);
/// assert_eq!((size.width, size.height), (512, 384));
/// ```
pub fn fit(source: (u32, u32), profile: &Profile, fidelity: Fidelity) -> FittedSize {
    fit_within(source, profile, fidelity, &Caps::default())
}

/// [`fit`] with additional caps.
pub fn fit_within(
    source: (u32, u32),
    profile: &Profile,
    fidelity: Fidelity,
    caps: &Caps,
) -> FittedSize {
    let bounds = SizeLimits::new(profile, fidelity, caps);
    let source = (source.0.max(1), source.1.max(1));
    let mut content = largest(source, |size| bounds.admits(size));
    let mut upscale = 1;
    if content == source {
        let least = bounds.upscale(source);
        let fits = |by: u32| bounds.admits((source.0 * by, source.1 * by));
        upscale = (2..=least).rev().find(|&by| fits(by)).unwrap_or(1);
        content = (source.0 * upscale, source.1 * upscale);
    }
    let (width, height) = bounds.padded(content);
    let tokens = profile.image_tokens(width, height, bounds.stated());
    FittedSize { width, height, content, upscale, detail: bounds.detail, tokens }
}

/// All limits on the size of one image.
struct SizeLimits<'a> {
    profile: &'a Profile,
    detail: Option<Detail>,
    edge: u32,
    min_edge: u32,
    tiny_edge: u32,
}

impl<'a> SizeLimits<'a> {
    fn new(profile: &'a Profile, fidelity: Fidelity, caps: &Caps) -> Self {
        let limits = &profile.limits;
        let own = match fidelity {
            Fidelity::Glance => Some(GLANCE_EDGE),
            Fidelity::Read => Some(SAFE_EDGE),
            Fidelity::Pixel => None,
        };
        let stated = [own, caps.edge, limits.edge, limits.crowd.map(|crowd| crowd.edge)];
        let edge = stated.into_iter().flatten().min().unwrap_or(u32::MAX).max(1);
        Self {
            profile,
            detail: fidelity.detail(profile),
            edge,
            min_edge: limits.min_edge.unwrap_or(1).clamp(1, edge),
            tiny_edge: match fidelity {
                Fidelity::Glance => 1,
                Fidelity::Read | Fidelity::Pixel => TINY_EDGE.min(edge),
            },
        }
    }

    /// The `detail` that the request will state for this image.
    fn stated(&self) -> Option<Detail> {
        self.detail.or(self.profile.quirks.detail)
    }

    /// Returns `true` if a picture of this size reaches the model unscaled.
    fn admits(&self, content: (u32, u32)) -> bool {
        let (w, h) = self.padded(content);
        if w.max(h) > self.edge {
            return false;
        }
        let patches = u64::from(w.div_ceil(PATCH)) * u64::from(h.div_ceil(PATCH));
        if self.profile.limits.patches.is_some_and(|most| patches > u64::from(most)) {
            return false;
        }
        let seen = self.profile.seen(w, h, self.stated());
        (seen.width, seen.height) == (w, h)
    }

    /// The size of the image with padding.
    fn padded(&self, (w, h): (u32, u32)) -> (u32, u32) {
        (w.max(self.min_edge), h.max(self.min_edge))
    }

    /// The factor that enlarges a source to the endpoint's minimum and to a size that models see
    /// well.
    fn upscale(&self, (w, h): (u32, u32)) -> u32 {
        let long = w.max(h);
        let factor = self.min_edge.div_ceil(w.min(h)).max(self.tiny_edge.div_ceil(long));
        // Anything larger would break the edge anyway; this keeps the products small.
        factor.min(self.edge / long).max(1)
    }
}

/// The largest size of the same shape that passes; 1 by 1 if nothing larger does.
///
/// The short side is rounded as providers do it: to the nearest pixel, halves up. Every rule is
/// monotone in the long side, so a binary search finds the largest size.
fn largest((w, h): (u32, u32), admits: impl Fn((u32, u32)) -> bool) -> (u32, u32) {
    if admits((w, h)) {
        return (w, h);
    }
    let (long, short) = (w.max(h), w.min(h));
    let aspect = f64::from(long) / f64::from(short);
    let at = |long: u32| {
        let short = ((f64::from(long) / aspect).round() as u32).max(1);
        if w >= h { (long, short) } else { (short, long) }
    };
    let (mut best, mut over) = (1, long);
    while over - best > 1 {
        let middle = best + (over - best) / 2;
        if admits(at(middle)) {
            best = middle;
        } else {
            over = middle;
        }
    }
    at(best)
}
