//! The media that a request shows to the model.

use photic::transcript::MediaId;
use photic::{Fate, Plan, Prepared, Slot};

/// The media that a request shows to the model.
#[derive(Debug)]
pub(super) struct SentMedia {
    /// The model, as the client names it.
    pub(super) model: String,
    /// Bytes of base64 that they take in the body.
    pub(super) base64: u64,
    /// Set if one of them is in a tool result.
    pub(super) in_results: bool,
}

impl SentMedia {
    /// Returns the media that a plan shows, or `None` if it shows none.
    pub(super) fn of(
        plan: &Plan<'_>,
        prepared: &Prepared,
        model: Option<&str>,
    ) -> Option<Box<Self>> {
        let shown = |id: MediaId| plan.fates.get(id.index()).is_some_and(|fate| fate.is_shown());
        let mut shown = plan.survey.sightings.iter().filter(|one| shown(one.media)).peekable();
        shown.peek()?;
        let model = model.unwrap_or_default().to_owned();
        let mut carried = Self { model, base64: 0, in_results: false };
        for one in shown {
            let made = prepared.get(&one.media).map(|made| made.base64.len());
            carried.base64 += made.unwrap_or(one.wire_bytes) as u64;
            carried.in_results |= matches!(one.slot, Slot::Result { .. })
                && matches!(plan.fates[one.media], Fate::Keep(_));
        }
        Some(Box::new(carried))
    }
}
