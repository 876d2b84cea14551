//! The facts that a header states.

use serde::Serialize;

use crate::refusal::{Refusal, RefusalCode};

/// An image format whose header can be read.
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
    /// The name of the format for people.
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

    /// The media type of the format.
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

    /// Returns `true` if this crate has a decoder for the format.
    pub const fn is_decoded(self) -> bool {
        !matches!(self, Self::Avif | Self::Heic | Self::Jxl)
    }
}

/// The number of pictures in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Frames {
    /// Exactly this many.
    Known(u32),
    /// This many in the part that was read; there may be more.
    AtLeast(u32),
    /// The header does not say.
    Unknown,
}

impl Frames {
    /// The smallest number it can be.
    pub const fn least(self) -> u32 {
        match self {
            Self::Known(n) | Self::AtLeast(n) => n,
            Self::Unknown => 1,
        }
    }
}

/// The color model of the stored pixels.
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

/// The color space that a file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Named as sRGB.
    Srgb,
    /// Named as Display P3.
    DisplayP3,
    /// An embedded ICC profile.
    Icc,
    /// Code points for another color space.
    Coded,
}

/// The header of an image file.
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
    /// Number of pictures in the file.
    pub frames: Frames,
    /// Bits of a sample, or of an index into a palette.
    pub bits: u8,
    /// `true` if pixels can be transparent.
    pub alpha: bool,
    /// EXIF orientation, 1 to 8.
    pub orientation: u8,
    /// Color model of the stored pixels.
    pub color: Color,
    /// The color space, if one is named.
    pub profile: Option<Profile>,
    /// `true` if the picture comes in passes (progressive JPEG, Adam7), so that a decoder must hold
    /// all of it.
    pub passes: bool,
}

impl Header {
    /// Number of pixels of one frame.
    pub const fn pixels(&self) -> u64 {
        self.stored_width as u64 * self.stored_height as u64
    }

    /// Returns `true` if the orientation swaps width and height.
    pub const fn turned(&self) -> bool {
        self.orientation >= 5
    }

    /// A header of this format and stored size, with defaults for everything else.
    pub(super) fn plain(format: Format, width: u32, height: u32) -> Self {
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

    /// Sets the orientation, and width and height after it.
    pub(super) fn oriented(mut self, orientation: u8) -> Self {
        self.orientation = if (1..=8).contains(&orientation) { orientation } else { 1 };
        (self.width, self.height) = if self.turned() {
            (self.stored_height, self.stored_width)
        } else {
            (self.stored_width, self.stored_height)
        };
        self
    }
}

/// The refusal of a corrupt file; `what` continues the sentence "this PNG file …".
pub(crate) fn corrupt(format: Format, what: &str) -> Refusal {
    Refusal::new(
        RefusalCode::Corrupt,
        format!("this {} file {what}", format.name()),
        "fetch or write the file again; what is here cannot be shown",
    )
}
