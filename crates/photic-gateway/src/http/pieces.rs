//! Makes the outgoing body from slices of the incoming one. Unchanged bytes are not copied.

use std::borrow::Cow;

use bytes::Bytes;
use photic::json::Segments;

/// Converts segments to owned bytes. Segments that borrow from the body become slices of it, and
/// adjacent slices are joined.
pub(crate) fn pieces(segments: Segments<'_>, body: &Bytes) -> Vec<Bytes> {
    let start = body.as_ptr().addr();
    let mut pieces: Vec<Bytes> = Vec::new();
    // The range of the last piece in the body, if it is a slice of it.
    let mut last: Option<(usize, usize)> = None;
    for segment in segments.into_pieces() {
        let range = match &segment {
            Cow::Borrowed(slice) => slice
                .as_ptr()
                .addr()
                .checked_sub(start)
                .map(|from| (from, from + slice.len()))
                .filter(|(_, to)| *to <= body.len()),
            Cow::Owned(_) => None,
        };
        match (range, last, pieces.last_mut()) {
            (Some((from, to)), Some((begin, end)), Some(piece)) if from == end => {
                *piece = body.slice(begin..to);
                last = Some((begin, to));
            }
            (Some((from, to)), _, _) => {
                pieces.push(body.slice(from..to));
                last = Some((from, to));
            }
            (None, _, _) => {
                pieces.push(match segment {
                    Cow::Owned(bytes) => Bytes::from(bytes),
                    Cow::Borrowed(slice) => Bytes::copy_from_slice(slice),
                });
                last = None;
            }
        }
    }
    pieces
}
