//! Media whose bytes are in the store and not at hand: what is remembered of them stands for them.
//!
//! A plan needs no more than that of whatever is not shown. What is done here when a turn is made is
//! done again when it is made anew from the record, so that the same plan comes of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use photic::transcript::MediaId;
use photic::{Memory, Survey, Transcript};

/// Tells a survey what stand-ins could not: what all media of the transcript are, those of
/// `remembered` by what is remembered of them. Nothing changes where there are none of these.
pub fn recall(
    survey: &mut Survey,
    transcript: &Transcript<'_>,
    remembered: &BTreeMap<MediaId, &Memory>,
) {
    if remembered.is_empty() {
        return;
    }
    let all = (0..transcript.media.len()).filter_map(|id| {
        let known = remembered.get(&id).map(|memory| Cow::Borrowed(*memory));
        Some((id, known.or_else(|| photic::remember(transcript, id).map(Cow::Owned))?))
    });
    let all: Vec<(MediaId, Cow<'_, Memory>)> = all.collect();
    survey.recall(all.iter().map(|(id, memory)| (*id, &**memory)));
}
