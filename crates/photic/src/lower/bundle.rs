//! Media that are moved to a user turn, each with a label that names its owner.

use crate::media::MediaKind;
use crate::notice::{self, Owner};
use crate::transcript::{MediaId, MediaPart, Part};

/// The content of the next user turn.
#[derive(Debug, Default)]
pub(super) struct Bundle<'a> {
    parts: Vec<Part<'a>>,
    count: usize,
}

impl<'a> Bundle<'a> {
    /// Adds a medium and returns its ordinal within the turn.
    pub(super) fn add(&mut self, kind: MediaKind, id: MediaId, owner: Owner) -> usize {
        self.count += 1;
        self.parts.push(Part::note(notice::label(kind, self.count, owner)));
        self.parts.push(Part::Media(MediaPart { id, node: None }));
        self.count
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes all parts, each label before its medium. The ordinals start over.
    pub(super) fn take(&mut self) -> Vec<Part<'a>> {
        self.count = 0;
        std::mem::take(&mut self.parts)
    }
}
