//! The number of a medium within its transcript.

/// The index of a medium in [`Transcript::media`](crate::Transcript::media).
pub type MediaId = usize;
