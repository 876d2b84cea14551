//! Bounded decode: turns a file into an upright sRGB raster, or refuses it.
//!
//! No decoder runs before [`DecodeLimits`] have been checked against the header, with the decoder's
//! own buffers counted. A decoder that panics means a corrupt file, not a crash. This module does
//! not fit or encode, and reads no clock except for the deadline.

mod alpha;
mod animation;
mod apng;
mod bmp_ico;
mod bmp_rows;
mod budget;
mod canvas;
mod color;
mod gif;
mod jpeg;
mod jpeg_bits;
mod jpeg_crop;
mod orient;
mod part;
mod png;
mod regions;
mod row_sink;
mod sheet;
mod tiff;
mod webp;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use alpha::{composite, into_opaque};
pub(crate) use sheet::SheetGrid;
pub use sheet::contact_sheet;

pub use crate::resize::Window;
pub use part::Note;

use budget::DecodeBudget;
use part::{DecodedPart, PartRequest, no_frame};

use crate::geometry::Rect;
use crate::header::{self, Format, Frames, Header};
use crate::limits::DecodeLimits;
use crate::raster::Raster;
use crate::refusal::Refusal;

/// Options of [`decode`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// The region to decode, in pixels of the upright source; everything if `None`.
    pub region: Option<Rect>,
    /// A hint that the picture will be scaled down to about this size. A decoder that can produce a
    /// smaller picture cheaply may do so; the result is never smaller than this in both directions.
    pub at_most: Option<(u32, u32)>,
    /// The frame or page, from 0.
    pub frame: u32,
}

/// A decoded picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The pixels: upright, sRGB, eight bits a sample, with alpha.
    pub raster: Raster,
    /// The part of the raster that is exactly the region. It is the whole raster unless the decoder
    /// scaled; then its edges may lie inside the outermost pixels.
    pub window: Window,
    /// Raster pixels for each source pixel, across and down; 1 unless the decoder scaled.
    pub scale: (f64, f64),
    /// Number of frames or pages in the file.
    pub frames: Frames,
    /// Problems that did not prevent decoding.
    pub notes: Vec<Note>,
}

/// Decodes the requested part of a file whose header was probed.
///
/// If the picture has more pixels than the limits allow, a region that has not is decoded without
/// the rest, where the format allows it: PNG without interlacing, JPEG with one scan, TIFF, and
/// uncompressed BMP.
pub fn decode(
    bytes: &[u8],
    header: &Header,
    limits: &DecodeLimits<'_>,
    wanted: DecodeOptions,
) -> Result<Decoded, Refusal> {
    let page = page(bytes, header, wanted.frame)?;
    let (header, frames) = (&page, animation::count(bytes, header));
    let region = match wanted.region {
        Some(region) => region.within((header.width, header.height))?,
        None => Rect::whole((header.width, header.height)),
    };
    let turn = header.turned();
    let ask = PartRequest {
        region: orient::to_stored(region, header),
        at_most: wanted
            .at_most
            .map(|(width, height)| if turn { (height, width) } else { (width, height) }),
        frame: wanted.frame,
    };
    regions::check(bytes, header, limits, Some(ask))?;
    let budget = DecodeBudget::check(bytes, header, limits)?;
    let part = guarded(header.format, || one(bytes, header, &budget, ask))?;
    let (raster, window) = orient::upright(part.raster, part.window, header.orientation);
    Ok(Decoded { raster, window, scale: (part.scale, part.scale), frames, notes: part.notes })
}

/// Number of frames or pages of a file, counted if the header does not give it.
pub fn frames(bytes: &[u8], header: &Header) -> Frames {
    animation::count(bytes, header)
}

/// Runs the decoder of the file's format.
fn one(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    match header.format {
        Format::Gif => animation::still(bytes, header, budget, ask),
        Format::Png | Format::Webp if ask.frame > 0 => animation::still(bytes, header, budget, ask),
        Format::Png => png::decode(bytes, header, budget, ask),
        Format::Jpeg => jpeg::decode(bytes, header, budget, ask),
        Format::Webp => webp::decode(bytes, header, budget, ask),
        Format::Tiff => tiff::decode(bytes, header, budget, ask),
        Format::Bmp => bmp_ico::bmp(bytes, header, budget, ask),
        Format::Ico => bmp_ico::ico(bytes, header, budget, ask),
        Format::Avif | Format::Heic | Format::Jxl => Err(budget::unsupported(header.format)),
    }
}

/// Runs third-party code. A panic in it counts as a corrupt file.
fn guarded<T>(format: Format, run: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(header::corrupt(format, "broke its decoder")))
}

/// The header of the requested frame. Pages of a TIFF have their own; other formats share the
/// file's.
fn page(bytes: &[u8], header: &Header, frame: u32) -> Result<Header, Refusal> {
    if frame == 0 {
        return Ok(*header);
    }
    let page = if header.format == Format::Tiff {
        header::tiff_page(bytes, frame)
    } else {
        has_frame(header, frame).then_some(*header)
    };
    page.ok_or_else(|| no_frame(header, frame))
}

/// Returns `true` if the file may have this frame.
fn has_frame(header: &Header, frame: u32) -> bool {
    match header.frames {
        Frames::Known(count) => frame < count,
        Frames::AtLeast(_) => true,
        Frames::Unknown => false,
    }
}
