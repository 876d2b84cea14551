//! What became of a request, in words of our own.

use photic::Profile;
use photic::tokens::Detail;
use photic_testkit::oracle::Seen;

/// What was sent, and what `photic` says of it.
pub(super) struct Outcome {
    pub(super) body: Vec<u8>,
    pub(super) sightings: usize,
    pub(super) fates: usize,
    /// What the ledger counts, unless something happened after it was written.
    pub(super) ledger: Option<Bill>,
    pub(super) changed: Option<Change>,
    /// The numbers of what gave way to a limit of the request.
    pub(super) retired: Vec<u32>,
    /// Whether the preparer failed.
    pub(super) failed: bool,
}

/// What is paid for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bill {
    pub(super) images: usize,
    /// Of the images whose size is known; `None` where the size is a guess.
    pub(super) image_tokens: Option<u64>,
}

/// Where a request stops being what the one before it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The number of the picture that is gone.
    pub(super) number: Option<u32>,
    pub(super) rewritten_tokens: u64,
}

/// The bill for what the provider saw.
pub(super) fn bill(seen: &Seen, profile: &Profile) -> Bill {
    let tokens = seen.images.iter().filter_map(|image| {
        let (width, height) = image.pixels?;
        let detail = image.detail.as_deref().and_then(Detail::from_name);
        Some(profile.image_tokens(width, height, detail))
    });
    Bill { images: seen.images.len(), image_tokens: Some(tokens.sum()) }
}
