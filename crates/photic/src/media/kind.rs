//! The kinds of media that a conversation carries.

use serde::{Deserialize, Serialize};

/// A kind of media that a part may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// Pixels.
    Image,
    /// Pages: PDF and its like.
    Document,
    /// Sound.
    Audio,
}

impl MediaKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Image, Self::Document, Self::Audio];
}
