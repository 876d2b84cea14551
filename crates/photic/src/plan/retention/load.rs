//! What requests hold, and what they may hold.

use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

/// The most a request may hold; absent means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Room {
    /// Images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<u64>,
    /// Tokens of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_tokens: Option<u64>,
    /// Tokens of everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Bytes of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Images beyond which none may be large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<u64>,
    /// Documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
}

/// Something that takes room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Images.
    pub images: u64,
    /// What counts towards a crowd.
    pub crowd: u64,
    /// What is too large for a crowd.
    pub large: u64,
    /// Tokens of images.
    pub image_tokens: u64,
    /// Tokens of everything.
    pub tokens: u64,
    /// Tokens that images may take beyond those, where nobody has said what they cost. Budgets
    /// reckon with them; what pays does not.
    pub doubt: u64,
    /// Bytes in the body.
    pub bytes: u64,
    /// How many of those could be saved by making heavy images lighter.
    pub spare: u64,
    /// Documents.
    pub documents: u64,
}

impl Load {
    /// Tokens of images, at the most.
    pub(crate) const fn most_image_tokens(&self) -> u64 {
        self.image_tokens.saturating_add(self.doubt)
    }

    /// Tokens of everything, at the most.
    pub(crate) const fn most_tokens(&self) -> u64 {
        self.tokens.saturating_add(self.doubt)
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, more: Self) {
        self.images += more.images;
        self.crowd += more.crowd;
        self.large += more.large;
        self.image_tokens += more.image_tokens;
        self.tokens += more.tokens;
        self.doubt += more.doubt;
        self.bytes += more.bytes;
        self.spare += more.spare;
        self.documents += more.documents;
    }
}

impl SubAssign for Load {
    fn sub_assign(&mut self, less: Self) {
        self.images -= less.images;
        self.crowd -= less.crowd;
        self.large -= less.large;
        self.image_tokens -= less.image_tokens;
        self.tokens -= less.tokens;
        self.doubt -= less.doubt;
        self.bytes -= less.bytes;
        self.spare -= less.spare;
        self.documents -= less.documents;
    }
}

/// What may retire a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// A limit, a window, and the price: the model can ask for it by an exact reference.
    Reference,
    /// A limit, a window, and the price where [`Priced`](super::Retention::Priced) is chosen.
    #[default]
    View,
    /// A limit only.
    Limited,
    /// A limit only, and not before everything else of earlier turns is retired: a person attached
    /// it.
    Attached,
}

/// A medium that may be retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What it takes.
    pub load: Load,
    /// An earlier view of the very same bytes: while that one is in sight, this one is a note.
    pub twin: Option<usize>,
    /// What may retire it.
    pub rank: Rank,
}

impl View {
    /// One of so many tokens and bytes.
    pub fn new(tokens: u64, bytes: u64) -> Self {
        let load =
            Load { images: 1, crowd: 1, image_tokens: tokens, tokens, bytes, ..Load::default() };
        Self { load, twin: None, rank: Rank::View }
    }
}

/// What a request adds to the one before it. Its words stand before its views.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn<'v> {
    /// Words, and whatever else is never retired.
    pub rest: Load,
    /// Views, and what a person attached.
    pub views: &'v [View],
}

/// What a notice in place of a view costs, in tokens and bytes.
pub const NOTICE: (u64, u64) = (25, 110);

/// What the price has added up since the last retirement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// No view before this one is in sight and retired by a price.
    pub(super) first: usize,
    /// Views from here on are too new to be retired.
    pub(super) fresh: usize,
    /// What re-reading the views between the two has cost.
    pub(super) paid: f64,
    /// What those cost per request.
    pub(super) idle: u64,
}
