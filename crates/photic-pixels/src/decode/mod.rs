//! Bounded decode: a file becomes an upright sRGB raster, or a refusal.
//!
//! Owns every decoder. None runs before [`Limits`] were held against the header, the decoder's own
//! buffers included, and a decoder that panics is a corrupt file, not a crash. It must never fit,
//! encode, or touch a file or a clock other than the deadline.

mod alpha;
mod animation;
mod apng;
mod bounds;
mod color;
mod gif;
mod icon;
mod jpeg;
mod orient;
mod png;
mod sheet;
mod sink;
mod tiff;
mod webp;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use alpha::{composite, into_opaque};
pub(crate) use sheet::Grid;
pub use sheet::contact_sheet;

pub use crate::resize::Window;

use bounds::Bounds;

use crate::geometry::Rect;
use crate::header::{self, Format, Frames, Header};
use crate::limits::Limits;
use crate::raster::Raster;
use crate::refusal::{Refusal, RefusalCode};

/// What of the file is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The part of it, in upright source pixels; all of it when `None`.
    pub region: Option<Rect>,
    /// A hint: the picture will be scaled down to about this size, so a decoder that can give a
    /// smaller one cheaply may. The result is never smaller than this in both directions.
    pub at_most: Option<(u32, u32)>,
    /// Which frame or page, from zero.
    pub frame: u32,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// Upright, sRGB, eight bits; alpha kept.
    pub raster: Raster,
    /// The part of the raster that is exactly the region. It is the whole raster unless the decoder
    /// scaled: then its edges may fall inside the outermost pixels.
    pub window: Window,
    /// Raster pixels a source pixel, across and down; 1 unless the decoder scaled.
    pub scale: (f64, f64),
    /// Frames or pages in the file.
    pub frames: Frames,
    /// What a reader of the picture should know.
    pub notes: Vec<Note>,
}

/// Something that is off, though there is a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Part of the data is damaged; some pixels may be wrong.
    Damaged,
    /// The colour profile could not be used; colours may be slightly off.
    ProfileIgnored,
}

/// A decoder's result before it is turned upright.
struct Part {
    raster: Raster,
    window: Window,
    /// Raster pixels a stored pixel.
    scale: f64,
    notes: Vec<Note>,
}

impl Part {
    fn whole(raster: Raster) -> Self {
        let window = Window {
            x: 0.0,
            y: 0.0,
            width: f64::from(raster.width),
            height: f64::from(raster.height),
        };
        Self { raster, window, scale: 1.0, notes: Vec::new() }
    }
}

/// What a decoder is told: the wanted part in stored pixels.
#[derive(Clone, Copy)]
struct Ask {
    region: Rect,
    at_most: Option<(u32, u32)>,
    frame: u32,
}

/// Decodes what is wanted of a file whose header was probed.
pub fn decode(
    bytes: &[u8],
    header: &Header,
    limits: &Limits<'_>,
    wanted: Wanted,
) -> Result<Decoded, Refusal> {
    let page = page(bytes, header, wanted.frame)?;
    let (header, frames) = (&page, animation::count(bytes, header));
    let bounds = Bounds::check(bytes, header, limits)?;
    let region = match wanted.region {
        Some(region) => region.within((header.width, header.height))?,
        None => Rect::whole((header.width, header.height)),
    };
    let turn = header.turned();
    let ask = Ask {
        region: orient::to_stored(region, header),
        at_most: wanted
            .at_most
            .map(|(width, height)| if turn { (height, width) } else { (width, height) }),
        frame: wanted.frame,
    };
    let part = guarded(header.format, || one(bytes, header, &bounds, ask))?;
    let (raster, window) = orient::upright(part.raster, part.window, header.orientation);
    Ok(Decoded { raster, window, scale: (part.scale, part.scale), frames, notes: part.notes })
}

/// How many frames or pages a file has, counted where the header does not say.
pub fn frames(bytes: &[u8], header: &Header) -> Frames {
    animation::count(bytes, header)
}

fn one(bytes: &[u8], header: &Header, bounds: &Bounds<'_>, ask: Ask) -> Result<Part, Refusal> {
    match header.format {
        Format::Gif => animation::still(bytes, header, bounds, ask),
        Format::Png | Format::Webp if ask.frame > 0 => animation::still(bytes, header, bounds, ask),
        Format::Png => png::decode(bytes, header, bounds, ask),
        Format::Jpeg => jpeg::decode(bytes, header, bounds, ask),
        Format::Webp => webp::decode(bytes, header, bounds, ask),
        Format::Tiff => tiff::decode(bytes, header, bounds, ask),
        Format::Bmp => icon::bmp(bytes, header, bounds, ask),
        Format::Ico => icon::ico(bytes, header, bounds, ask),
        Format::Avif | Format::Heic | Format::Jxl => Err(bounds::unsupported(header.format)),
    }
}

/// Runs third-party code; its panic is a corrupt file.
fn guarded<T>(format: Format, run: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(header::corrupt(format, "broke its decoder")))
}

/// The header of the wanted frame: pages of a TIFF have their own, others share the file's.
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

fn has_frame(header: &Header, frame: u32) -> bool {
    match header.frames {
        Frames::Known(count) => frame < count,
        Frames::AtLeast(_) => true,
        Frames::Unknown => false,
    }
}

fn no_frame(header: &Header, frame: u32) -> Refusal {
    Refusal::new(
        RefusalCode::BadRegion,
        format!("there is no frame {frame} in this {} file", header.format.name()),
        format!("frames count from 0; it has {} or so", header.frames.least()),
    )
}
