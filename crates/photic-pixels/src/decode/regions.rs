//! Pictures with more pixels than the limit: a region of them is decoded if the format allows it.
//!
//! The limit then holds for the region. What has to be read on the way to it is read in pieces and
//! dropped, so memory depends on the region, a row or a strip, and never on the whole picture.

use super::bmp_rows::BmpRows;
use super::part::PartRequest;
use crate::geometry::Rect;
use crate::header::{Format, Header, JpegFrame};
use crate::limits::DecodeLimits;
use crate::refusal::{Refusal, RefusalCode};

/// Refuses a picture with too many pixels, unless a region is asked for that keeps the limit and
/// can be decoded without the rest.
pub(super) fn check(
    bytes: &[u8],
    header: &Header,
    limits: &DecodeLimits<'_>,
    part: Option<PartRequest>,
) -> Result<(), Refusal> {
    let pixels = limits.pixels;
    if header.pixels() <= pixels || !header.format.is_decoded() {
        return Ok(());
    }
    let is_small = part
        .is_some_and(|part| u64::from(part.region.width) * u64::from(part.region.height) <= pixels);
    let only_whole = only_whole(bytes, header, part.map_or(0, |part| part.frame));
    if is_small && only_whole.is_none() {
        return Ok(());
    }
    let (width, height) = (header.width, header.height);
    let says = format!(
        "the image is {width}x{height}, which is {:.1} megapixels, over the limit of {:.1}",
        header.pixels() as f64 / 1e6,
        pixels as f64 / 1e6
    );
    let (says, hint) = if let Some(why) = only_whole {
        let hint = "save it as a PNG without interlacing, of which a region can be read, make a \
                    smaller copy, or raise the limit if the file is trusted";
        (format!("{says}; {why}"), hint.to_owned())
    } else {
        let Rect { x, y, width, height } = example(header, pixels);
        let hint = format!(
            "ask for a region, such as {x},{y},{width},{height}, make a smaller copy, or raise the \
             limit if the file is trusted"
        );
        (says, hint)
    };
    Err(Refusal::new(RefusalCode::TooLarge, says, hint))
}

/// The reason why a file can only be decoded whole; `None` if a region of it can be decoded alone.
fn only_whole(bytes: &[u8], header: &Header, frame: u32) -> Option<&'static str> {
    match header.format {
        Format::Png if frame > 0 => Some("the frames of an animated PNG need a whole canvas"),
        Format::Png if header.passes => Some("an interlaced PNG can only be decoded whole"),
        Format::Png | Format::Tiff => None,
        Format::Jpeg => match JpegFrame::of(bytes) {
            Some(frame) if frame.arithmetic => {
                Some("a JPEG with arithmetic coding can only be decoded whole")
            }
            Some(_) if header.passes => Some("a progressive JPEG can only be decoded whole"),
            Some(frame) if frame.several => {
                Some("a JPEG with several scans can only be decoded whole")
            }
            Some(frame) if frame.is_lossless => Some("a lossless JPEG can only be decoded whole"),
            _ => None,
        },
        Format::Bmp => match BmpRows::of(bytes, header) {
            Some(_) => None,
            None => Some("this variant of BMP can only be decoded whole"),
        },
        Format::Gif => Some("a GIF file can only be decoded whole"),
        Format::Webp => Some("a WebP file can only be decoded whole"),
        Format::Ico => Some("an ICO file can only be decoded whole"),
        Format::Avif | Format::Heic | Format::Jxl => Some("this format is not decoded here"),
    }
}

/// A region at the top of the picture that keeps the limit, as an example to ask for.
fn example(header: &Header, pixels: u64) -> Rect {
    let width = u64::from(header.width).min(pixels.max(1));
    let height = (pixels / width.max(1)).clamp(1, width).min(u64::from(header.height));
    Rect::new(0, 0, width as u32, height as u32)
}
