//! Reads the header of an image file: format, size, frames, depth, orientation, color.
//!
//! At most [`MAX_PROBE_BYTES`] bytes are read, wherever the format keeps its header. No pixel is
//! decoded, no file name or label is trusted, and broken metadata is not an error: a broken EXIF
//! block counts as none.
//!
//! # Examples
//!
//! ```
//! use photic_pixels::chart::Chart;
//! use photic_pixels::header::{Format, probe};
//!
//! let file = Chart::of(7).png()?;
//! let header = probe(&file)?;
//! assert_eq!(header.format, Format::Png);
//! assert_eq!((header.width, header.height), (384, 288));
//! # Ok::<(), photic_pixels::Refusal>(())
//! ```

mod bmp_ico;
mod bytes;
mod exif;
mod gif;
mod heif;
mod jpeg;
mod jxl;
mod png;
mod sniff;
mod tiff;
mod types;
mod webp;

pub(crate) use bmp_ico::ico_best;
pub use bytes::MAX_PROBE_BYTES;
pub(crate) use gif::count as gif_count;
pub(crate) use jpeg::{
    Frame as JpegFrame, adobe as jpeg_adobe, icc as jpeg_icc, largest as jpeg_largest,
    scans as jpeg_scans,
};
pub(crate) use png::{Chunks as PngChunks, icc as png_icc};
pub(crate) use tiff::{
    most_values as tiff_values, page as tiff_page, photometric as tiff_photometric,
};

pub(crate) use types::corrupt;
pub use types::{Color, Format, Frames, Header, Profile};

use crate::refusal::Refusal;

/// Reads the header of a file.
///
/// Pass the whole file if possible: a TIFF may keep its header anywhere, and only the needed parts
/// are read.
///
/// # Errors
///
/// Refuses files that are empty, not images, of an unsupported format, or broken before the end of
/// the header.
pub fn probe(bytes: &[u8]) -> Result<Header, Refusal> {
    let format = sniff::format(bytes)?;
    let header = match format {
        Format::Png => png::probe(bytes),
        Format::Jpeg => jpeg::probe(bytes),
        Format::Webp => webp::probe(bytes),
        Format::Gif => gif::probe(bytes),
        Format::Bmp => bmp_ico::bmp(bytes),
        Format::Ico => bmp_ico::ico(bytes),
        Format::Tiff => tiff::probe(bytes),
        Format::Avif | Format::Heic => heif::probe(bytes, format),
        Format::Jxl => jxl::probe(bytes),
    }
    .ok_or_else(|| {
        corrupt(format, "ends before its header does, or the header contradicts itself")
    })?;
    if header.stored_width == 0 || header.stored_height == 0 {
        return Err(corrupt(format, "says that it has no pixels"));
    }
    Ok(header)
}
