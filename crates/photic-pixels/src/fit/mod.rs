//! The size a view should have: one the provider will not scale a second time.
//!
//! Owns the search for a fixed point of the provider's own resize under every limit of a profile,
//! and the cut of a large source into tiles. Which provider resizes how is `photic`'s knowledge;
//! nothing here names one. Must never enlarge except by a whole factor, and never distort.

mod tiles;

use photic::Profile;
use photic::tokens::Detail;
use serde::Serialize;

pub use tiles::{MAX_TILES, OVERLAP, Tiling, tiles, tiles_within};

/// Longest side at `glance`: the size every provider's `low` shrinks to.
const GLANCE_EDGE: u32 = 512;

/// Longest side at `read`, and of every image that may become one of many: beyond it a request
/// that has grown crowded is rejected as a whole (`photic::profile::Crowd`).
const SAFE_EDGE: u32 = 2000;

/// Images smaller than this on every side are enlarged: models see them badly (pains R39).
const TINY_EDGE: u32 = 200;

/// Side of the patches in [`photic::profile::Limits::patches`].
const PATCH: u32 = 32;

/// How closely to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// What is it? A thumbnail of at most 512 px.
    Glance,
    /// What does it say? As large as reading needs and a growing session can afford.
    #[default]
    Read,
    /// Exactly what is there? As large as the endpoint takes.
    Pixel,
}

impl Fidelity {
    /// Every one, from cheap to dear.
    pub const ALL: [Self; 3] = [Self::Glance, Self::Read, Self::Pixel];

    /// The name used in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Glance => "glance",
            Self::Read => "read",
            Self::Pixel => "pixel",
        }
    }

    /// The fidelity of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fidelity| fidelity.name() == name)
    }

    /// The detail to state on the wire for it; none where the endpoint has no such knob.
    pub fn detail(self, profile: &Profile) -> Option<Detail> {
        let wanted = match self {
            Self::Glance => Detail::Low,
            Self::Read => return None,
            Self::Pixel => Detail::Original,
        };
        profile.quirks.details.contains(&wanted).then_some(wanted)
    }
}

/// What the caller allows, on top of what the profile does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Longest side in pixels.
    pub edge: Option<u32>,
    /// Most bytes of the encoded image.
    pub bytes: Option<u64>,
    /// No side is made shorter than this to meet `bytes`.
    pub floor: u32,
}

impl Default for Caps {
    fn default() -> Self {
        Self { edge: None, bytes: None, floor: 100 }
    }
}

/// Caps by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// 1568 px, 500 KiB, and nothing below 100 px.
    Seed003,
}

impl Preset {
    /// Every one.
    pub const ALL: [Self; 1] = [Self::Seed003];

    /// The name used in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed003 => "seed003",
        }
    }

    /// The preset of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// What it allows.
    pub const fn caps(self) -> Caps {
        match self {
            Self::Seed003 => Caps { edge: Some(1568), bytes: Some(500 << 10), floor: 100 },
        }
    }
}

/// The size to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Width of the image to send.
    pub width: u32,
    /// Height of the image to send.
    pub height: u32,
    /// The part of it, from the top left, that shows the source; smaller than the image only where
    /// a strip had to be padded to the shortest side the endpoint takes.
    pub content: (u32, u32),
    /// The whole factor a tiny source is enlarged by; 1 for all others.
    pub upscale: u32,
    /// The detail to state on the wire for this size to hold.
    pub detail: Option<Detail>,
    /// What the image costs.
    pub tokens: u64,
}

/// The largest size the provider leaves alone, within every limit of the profile.
pub fn fit(source: (u32, u32), profile: &Profile, fidelity: Fidelity) -> Target {
    fit_within(source, profile, fidelity, &Caps::default())
}

/// [`fit`] under the caller's own caps.
pub fn fit_within(
    source: (u32, u32),
    profile: &Profile,
    fidelity: Fidelity,
    caps: &Caps,
) -> Target {
    let bounds = Bounds::new(profile, fidelity, caps);
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
    Target { width, height, content, upscale, detail: bounds.detail, tokens }
}

/// Everything that bounds one size.
struct Bounds<'a> {
    profile: &'a Profile,
    detail: Option<Detail>,
    edge: u32,
    min_edge: u32,
    tiny_edge: u32,
}

impl<'a> Bounds<'a> {
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

    /// The detail that the part of the view states when photic writes it.
    fn stated(&self) -> Option<Detail> {
        self.detail.or(self.profile.quirks.detail)
    }

    /// Whether a picture of this size reaches the model as it is.
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

    fn padded(&self, (w, h): (u32, u32)) -> (u32, u32) {
        (w.max(self.min_edge), h.max(self.min_edge))
    }

    /// The factor that lifts a source over the endpoint's minimum and out of tininess.
    fn upscale(&self, (w, h): (u32, u32)) -> u32 {
        let long = w.max(h);
        let factor = self.min_edge.div_ceil(w.min(h)).max(self.tiny_edge.div_ceil(long));
        // Anything larger would break the edge anyway; this keeps the products small.
        factor.min(self.edge / long).max(1)
    }
}

/// The largest size of the same shape that passes; 1 by 1, padded, if nothing larger does.
///
/// The short side is rounded the way providers round it: to the nearest pixel, halves up. Every
/// rule is monotone in the long side, so a binary search finds the largest.
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
