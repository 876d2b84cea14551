//! Pictures with more pixels than the limit: a region of them is decoded if the format allows it.
//!
//! The limit then holds for the region. What has to be read on the way to it is read in pieces and
//! dropped, so memory depends on the region, a row or a strip, and never on the whole picture.

use super::bmp_rows::BmpRows;
use crate::geometry::Rect;
use crate::header::{Format, Header, JpegFrame};

/// The reason why a file can only be decoded whole; `None` if a region of it can be decoded alone.
pub(super) fn only_whole(bytes: &[u8], header: &Header, frame: u32) -> Option<&'static str> {
    match header.format {
        Format::Png if frame > 0 => Some("the frames of an animated PNG need a whole canvas"),
        Format::Png if header.passes => Some("an interlaced PNG can only be decoded whole"),
        Format::Png | Format::Tiff => None,
        Format::Jpeg => match JpegFrame::of(bytes) {
            Some(frame) if frame.arithmetic => {
                Some("a JPEG with arithmetic coding can only be decoded whole")
            }
            Some(frame) if frame.several => Some("a progressive JPEG can only be decoded whole"),
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
pub(super) fn example(header: &Header, pixels: u64) -> Rect {
    let width = u64::from(header.width).min(pixels.max(1));
    let height = (pixels / width.max(1)).clamp(1, width).min(u64::from(header.height));
    Rect::new(0, 0, width as u32, height as u32)
}
