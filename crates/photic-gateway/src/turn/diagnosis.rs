//! A rejection, and the lessons that it teaches about the body that was sent.

use photic::Wire;
use photic::lesson::{Lesson, RejectedRequest};
use photic::rejection::{Rejection, Said, classify_own_words};

/// A rejection, and its status.
pub(super) struct Diagnosis {
    pub(super) status: u16,
    /// The text of the rejection.
    pub(super) answer: String,
    pub(super) rejection: Rejection,
    /// Number of earlier attempts.
    pub(super) tries: usize,
}

impl Diagnosis {
    /// Returns the diagnosis of the endpoint's own words, without those that it quotes from the
    /// request.
    pub(super) fn in_own_words(&self, request: &[Said<'_>]) -> Self {
        let rejection = classify_own_words(Some(self.status), &self.answer, request);
        Self { status: self.status, answer: String::new(), rejection, tries: self.tries }
    }

    /// Returns the lessons of a rejection, or none if a changed request would not help.
    pub(super) fn lessons(&self, wire: Wire, sent: &[u8]) -> Vec<Lesson> {
        let Self { rejection, tries, .. } = self;
        photic_pixels::diagnose(&RejectedRequest { rejection, tries: *tries, wire, body: sent })
    }
}
