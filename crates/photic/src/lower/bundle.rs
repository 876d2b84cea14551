//! Media on their way to a user turn, each with the label that says whose it is.

use crate::media::MediaKind;
use crate::notice::{self, Owner};
use crate::transcript::{MediaId, MediaPart, Part};

/// What will stand in the next user turn.
#[derive(Debug, Default)]
pub(super) struct Bundle<'a> {
    parts: Vec<Part<'a>>,
    count: usize,
}

impl<'a> Bundle<'a> {
    /// Adds a medium and gives its ordinal within the turn.
    pub(super) fn add(&mut self, kind: MediaKind, id: MediaId, owner: Owner) -> usize {
        self.count += 1;
        self.parts.push(Part::note(notice::label(kind, self.count, owner)));
        self.parts.push(Part::Media(MediaPart { id, node: None }));
        self.count
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Everything, label before medium; the ordinals begin anew.
    pub(super) fn take(&mut self) -> Vec<Part<'a>> {
        self.count = 0;
        std::mem::take(&mut self.parts)
    }
}
