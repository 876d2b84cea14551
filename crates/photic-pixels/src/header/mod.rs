//! What a file is, from its first bytes: format, size, frames, depth, orientation, colour.
//!
//! Owns the sniff and the header parsers. It reads at most [`READ_MOST`] bytes of what it is given,
//! wherever the format keeps its header, and never decodes a pixel, never trusts a name or a label,
//! and never fails over metadata: a broken EXIF block is no EXIF block.

mod bytes;
mod exif;
mod gif;
mod iso;
mod jpeg;
mod jxl;
mod plain;
mod png;
mod sniff;
mod tiff;
mod webp;

use serde::Serialize;

pub(crate) use gif::count as gif_count;
pub(crate) use jpeg::{
    Frame as JpegFrame, adobe as jpeg_adobe, icc as jpeg_icc, largest as jpeg_largest,
    scans as jpeg_scans,
};
pub(crate) use plain::ico_best;
pub(crate) use png::{Chunks as PngChunks, icc as png_icc};
pub(crate) use tiff::{
    most_values as tiff_values, page as tiff_page, photometric as tiff_photometric,
};

use crate::refusal::{Refusal, RefusalCode};

/// Most bytes that a probe reads.
pub const READ_MOST: usize = 256 << 10;

/// The formats whose header is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// PNG, animated or not.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
    /// GIF.
    Gif,
    /// Windows bitmap.
    Bmp,
    /// TIFF.
    Tiff,
    /// Windows icon or cursor.
    Ico,
    /// AVIF.
    Avif,
    /// HEIC and the rest of the HEIF family.
    Heic,
    /// JPEG XL.
    Jxl,
}

impl Format {
    /// Its name in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Webp => "WebP",
            Self::Gif => "GIF",
            Self::Bmp => "BMP",
            Self::Tiff => "TIFF",
            Self::Ico => "ICO",
            Self::Avif => "AVIF",
            Self::Heic => "HEIC",
            Self::Jxl => "JPEG XL",
        }
    }

    /// The media type that labels these bytes.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
            Self::Bmp => "image/bmp",
            Self::Tiff => "image/tiff",
            Self::Ico => "image/x-icon",
            Self::Avif => "image/avif",
            Self::Heic => "image/heic",
            Self::Jxl => "image/jxl",
        }
    }

    /// Whether this crate has a decoder for it.
    pub const fn is_decoded(self) -> bool {
        !matches!(self, Self::Avif | Self::Heic | Self::Jxl)
    }
}

/// How many pictures the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Frames {
    /// Exactly so many.
    Known(u32),
    /// So many in the part that was read; there may be more.
    AtLeast(u32),
    /// The header does not say.
    Unknown,
}

impl Frames {
    /// The lowest number it can be.
    pub const fn least(self) -> u32 {
        match self {
            Self::Known(n) | Self::AtLeast(n) => n,
            Self::Unknown => 1,
        }
    }
}

/// How pixels are coded in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// Gray, with or without alpha.
    Gray,
    /// Red, green, blue, or a transform of it, with or without alpha.
    Rgb,
    /// Indices into a palette.
    Palette,
    /// Four inks, or a transform of them.
    Cmyk,
    /// The header does not say.
    Unknown,
}

/// The colour space the file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Named as sRGB.
    Srgb,
    /// Named as Display P3.
    DisplayP3,
    /// An embedded ICC profile.
    Icc,
    /// Named by code points that are neither of the above.
    Coded,
}

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Header {
    /// The format of the bytes.
    pub format: Format,
    /// Width after orientation.
    pub width: u32,
    /// Height after orientation.
    pub height: u32,
    /// Width as stored.
    pub stored_width: u32,
    /// Height as stored.
    pub stored_height: u32,
    /// Pictures in the file.
    pub frames: Frames,
    /// Bits a sample; of an index for palettes.
    pub bits: u8,
    /// Whether pixels can be clear.
    pub alpha: bool,
    /// EXIF orientation, 1 to 8.
    pub orientation: u8,
    /// How pixels are coded.
    pub color: Color,
    /// The colour space, where one is named.
    pub profile: Option<Profile>,
    /// Whether the picture comes in passes (progressive JPEG, Adam7): a decoder must hold all of it.
    pub passes: bool,
}

impl Header {
    /// Pixels of one frame.
    pub const fn pixels(&self) -> u64 {
        self.stored_width as u64 * self.stored_height as u64
    }

    /// Whether orientation swaps width and height.
    pub const fn turned(&self) -> bool {
        self.orientation >= 5
    }

    /// A header of the format and stored size, everything else plain.
    fn plain(format: Format, width: u32, height: u32) -> Self {
        Self {
            format,
            width,
            height,
            stored_width: width,
            stored_height: height,
            frames: Frames::Known(1),
            bits: 8,
            alpha: false,
            orientation: 1,
            color: Color::Rgb,
            profile: None,
            passes: false,
        }
    }

    fn oriented(mut self, orientation: u8) -> Self {
        self.orientation = if (1..=8).contains(&orientation) { orientation } else { 1 };
        (self.width, self.height) = if self.turned() {
            (self.stored_height, self.stored_width)
        } else {
            (self.stored_width, self.stored_height)
        };
        self
    }
}

/// Reads what the file is. Give it the whole file where that is at hand: a TIFF keeps its header
/// anywhere, and the parser only touches what it needs.
pub fn probe(bytes: &[u8]) -> Result<Header, Refusal> {
    let format = sniff::format(bytes)?;
    let header = match format {
        Format::Png => png::probe(bytes),
        Format::Jpeg => jpeg::probe(bytes),
        Format::Webp => webp::probe(bytes),
        Format::Gif => gif::probe(bytes),
        Format::Bmp => plain::bmp(bytes),
        Format::Ico => plain::ico(bytes),
        Format::Tiff => tiff::probe(bytes),
        Format::Avif | Format::Heic => iso::probe(bytes, format),
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

pub(crate) fn corrupt(format: Format, what: &str) -> Refusal {
    Refusal::new(
        RefusalCode::Corrupt,
        format!("this {} file {what}", format.name()),
        "fetch or write the file again; what is here cannot be shown",
    )
}
