//! Uses the file itself as the view if only its metadata has to be removed.
//!
//! A file passes only after it was decoded here: one that no decoder could read is refused.

use photic::profile::MediaKind;

use super::ViewRequest;
use crate::decode::Decoded;
use crate::encode::Encoded;
use crate::fit::FittedSize;
use crate::header::{Color, Format, Frames, Header, JpegFrame, Profile};
use crate::raster::{Layout, Raster};
use crate::strip::strip;

/// Returns the file without its metadata if it shows exactly the pixels of the view.
///
/// `shown` is the size of the part that was decoded.
pub(super) fn passthrough(
    bytes: &[u8],
    header: &Header,
    (decoded, shown): (&Decoded, (u32, u32)),
    target: &FittedSize,
    (request, cap): (&ViewRequest<'_>, Option<usize>),
) -> Option<Encoded> {
    let size = (header.width, header.height);
    let unscaled = shown == size && target.content == size && (target.width, target.height) == size;
    let plain = header.orientation == 1
        && header.bits <= 8
        && decoded.frames == Frames::Known(1)
        && decoded.notes.is_empty()
        && matches!(header.profile, None | Some(Profile::Srgb))
        && matches!(header.color, Color::Gray | Color::Rgb | Color::Palette)
        && common(bytes, header.format)
        && is_opaque(&decoded.raster);
    let media_type = header.format.media_type();
    if !unscaled || !plain || !request.profile.accepts_type(MediaKind::Image, media_type) {
        return None;
    }
    let bytes = strip(bytes, header.format)?;
    if cap.is_some_and(|cap| bytes.len() > cap) {
        return None;
    }
    let lossless = matches!(header.format, Format::Png | Format::Gif);
    Some(Encoded { bytes, media_type, quality: None, lossless })
}

/// Returns `true` if common decoders read this kind of file.
fn common(bytes: &[u8], format: Format) -> bool {
    match format {
        Format::Png | Format::Gif | Format::Webp => true,
        Format::Jpeg => JpegFrame::of(bytes).is_some_and(|frame| !frame.arithmetic),
        Format::Bmp | Format::Tiff | Format::Ico | Format::Avif | Format::Heic | Format::Jxl => {
            false
        }
    }
}

/// Returns `true` if no pixel is transparent.
fn is_opaque(raster: &Raster) -> bool {
    raster.layout != Layout::Rgba || raster.data.chunks_exact(4).all(|pixel| pixel[3] == u8::MAX)
}
