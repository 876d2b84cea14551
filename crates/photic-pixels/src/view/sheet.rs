//! Frames of an animation, or pages, side by side in one view.

use super::{View, ViewRequest, view};
use crate::decode;
use crate::encode::{EncodeOptions, Prefer, encode};
use crate::header;
use crate::refusal::Refusal;

/// A view of at most so many frames, evenly spaced, read row by row.
///
/// Its source is the sheet, not the file: regions, tiles and the map speak of the sheet's pixels.
/// `request.frame` means nothing here.
pub fn sheet(bytes: &[u8], request: &ViewRequest<'_>, most_frames: u32) -> Result<View, Refusal> {
    let header = header::probe(bytes)?;
    let sheet = decode::contact_sheet(bytes, &header, &request.limits, most_frames)?;
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    // Through a file once more, so that one path fits, encodes and warns.
    let file = encode(&sheet, &options)?;
    let view = view(&file.bytes, &ViewRequest { frame: 0, ..*request })?;
    Ok(View { frames: decode::frames(bytes, &header), ..view })
}
