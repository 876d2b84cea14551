//! The load of a request, and its maximum.

use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

/// The maximum load of a request. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MaxLoad {
    /// Maximum number of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<u64>,
    /// Maximum tokens of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_tokens: Option<u64>,
    /// Maximum tokens of the whole request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Maximum bytes of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The number of images beyond which none may be large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<u64>,
    /// Maximum number of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
}

/// The room that a medium, a turn or a request takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The number of images.
    pub images: u64,
    /// The number of media that count towards a crowd.
    pub crowd: u64,
    /// The number of images that are too large for a crowd.
    pub large: u64,
    /// Tokens of images.
    pub image_tokens: u64,
    /// Tokens of everything.
    pub tokens: u64,
    /// Tokens that images may cost beyond those, if their price is unknown. Budgets include them;
    /// cost comparisons do not.
    pub doubt: u64,
    /// Bytes in the body.
    pub bytes: u64,
    /// The number of those bytes that making heavy images lighter could save.
    pub spare: u64,
    /// The number of documents.
    pub documents: u64,
}

impl Load {
    /// Returns the maximum tokens of images.
    pub(crate) const fn most_image_tokens(&self) -> u64 {
        self.image_tokens.saturating_add(self.doubt)
    }

    /// Returns the maximum tokens of everything.
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

/// The conditions under which a medium may be retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// A limit, a window or the price retires it. The model can ask for it by an exact reference.
    Reference,
    /// A limit or a window retires it, or the price if [`Priced`](super::Retention::Priced) is
    /// chosen.
    #[default]
    View,
    /// Only a limit retires it.
    Limited,
    /// Only a limit retires it, after everything else of earlier turns. A person attached it.
    Attached,
}

/// A medium that may be retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The room it takes.
    pub load: Load,
    /// An earlier view of identical bytes. While that one is in sight, this one is a note.
    pub twin: Option<usize>,
    /// The conditions under which it may be retired.
    pub rank: Rank,
}

impl View {
    /// Creates a view of this many tokens and bytes.
    pub fn new(tokens: u64, bytes: u64) -> Self {
        let load =
            Load { images: 1, crowd: 1, image_tokens: tokens, tokens, bytes, ..Load::default() };
        Self { load, twin: None, rank: Rank::View }
    }
}

/// The part of a request that the previous one did not have. Its words come before its views.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn<'v> {
    /// The load of words, and of everything else that is never retired.
    pub rest: Load,
    /// Views, and media that a person attached.
    pub views: &'v [View],
}

/// The cost of a notice in place of a view, in tokens and bytes.
pub const NOTICE: (u64, u64) = (25, 110);

/// The cost of keeping views since the last retirement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeepingCost {
    /// The first view that is in sight and that the price may retire.
    pub(super) first: usize,
    /// Views from this one on are too new to be retired.
    pub(super) fresh: usize,
    /// The cost so far of re-reading the views between the two.
    pub(super) paid: f64,
    /// The tokens of those views in each request.
    pub(super) idle: u64,
}
