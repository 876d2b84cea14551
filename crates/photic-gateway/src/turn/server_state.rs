//! Requests whose conversation is partly kept by their provider.

use photic::{Survey, Transcript, Wire};

use crate::http::{Failure, HalfRequest};

/// Checks that a request for an upstream of another wire holds its whole conversation.
///
/// # Errors
///
/// Fails if the provider keeps a part of it. Sent elsewhere, the request would be half of itself.
pub(super) fn check_whole(transcript: &Transcript<'_>, to: Wire) -> Result<(), Failure> {
    if transcript.wire == to {
        return Ok(());
    }
    let half = photic::notes(transcript).into_iter().find(|note| note.is_half);
    half.map_or(Ok(()), |note| {
        let refused_as = note.refused_as;
        Err(Failure::HalfRequest(HalfRequest { field: note.field, refused_as, to }))
    })
}

/// Returns the fields that refer to pictures which are not in the body, each once.
pub(super) fn unplanned(survey: &Survey) -> Vec<String> {
    let notes = survey.notes.iter().filter(|note| note.effect.is_unplanned());
    let mut fields: Vec<String> = notes.map(|note| note.field.clone()).collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}
