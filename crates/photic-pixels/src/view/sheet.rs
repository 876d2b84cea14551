//! Views of several frames of an animation, or pages, side by side.

use super::{View, ViewRequest, view};
use crate::decode;
use crate::encode::{EncodeOptions, Prefer, encode};
use crate::header;
use crate::refusal::Refusal;

/// Makes a view of at most `most_frames` evenly spaced frames, row by row.
///
/// Its source is the sheet, not the file: regions, tiles and the map refer to the sheet's pixels.
/// `request.frame` is ignored.
pub fn sheet(bytes: &[u8], request: &ViewRequest<'_>, most_frames: u32) -> Result<View, Refusal> {
    let header = header::probe(bytes)?;
    let sheet = decode::contact_sheet(bytes, &header, &request.limits, most_frames)?;
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    // Encoded as a file once more, so that one code path fits, encodes and warns.
    let file = encode(&sheet, &options)?;
    let view = view(&file.bytes, &ViewRequest { frame: 0, ..*request })?;
    Ok(View { frames: decode::frames(bytes, &header), ..view })
}
