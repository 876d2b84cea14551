//! Encodes rasters: chooses the format by content and the quality by prediction.
//!
//! Screens and text stay lossless if the byte limit allows it, photographs become JPEG, and WebP is
//! written only if the receiver accepts it. Under a limit, the size is predicted from a sample of
//! the rows, so the picture is encoded once and rarely twice. The same pixels and options give the
//! same bytes on any number of threads. This module never scales and never writes metadata; if
//! nothing fits, [`NoFit`] names the factor by which the caller should scale.

mod content;
mod formats;
mod png;
mod predict;

use crate::{Layout, Raster, Refusal, RefusalCode};

pub use content::{Content, classify};
use formats::EncoderFailed;
use predict::{Codec, Encoder, Sample};

/// The shortest edge to which a picture may be shrunk to meet a byte limit.
pub const MIN_EDGE: u32 = 100;

/// The receiver's formats and limits.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// Media types that the receiver accepts.
    pub accepts: &'a [&'a str],
    /// Largest number of bytes before base64; [`raw_cap`] converts a limit on base64.
    pub cap: Option<usize>,
    /// Choice between lossless and lossy formats.
    pub prefer: Prefer,
    /// Highest lossy quality, 1 to 100; by default it depends on the content.
    pub quality: Option<u8>,
}

impl Default for EncodeOptions<'_> {
    /// PNG and JPEG, which every endpoint accepts, without a limit.
    fn default() -> Self {
        Self {
            accepts: &["image/png", "image/jpeg"],
            cap: None,
            prefer: Prefer::Auto,
            quality: None,
        }
    }
}

/// Choice between lossless and lossy formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// Chosen by content.
    Auto,
    /// Lossless if that fits the limit, otherwise a format that keeps text sharp.
    Lossless,
    /// Lossy, as for a photograph.
    Photo,
}

/// An encoded picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its media type.
    pub media_type: &'static str,
    /// The encoder's quality; `None` for lossless formats.
    pub quality: Option<u8>,
    /// `true` if decoding gives the same samples back.
    pub lossless: bool,
}

impl std::fmt::Debug for Encoded {
    /// Omits the bytes, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} of {} bytes, quality {:?}>", self.media_type, self.bytes.len(), self.quality)
    }
}

/// No encoding fits. Names the factor by which the picture would have to be scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct NoFit {
    /// The reason.
    pub refusal: Refusal,
    /// The factor for both edges at which the picture is predicted to fit; `None` if an edge would
    /// become shorter than [`MIN_EDGE`], or if the size is not the problem.
    pub scale: Option<f64>,
}

impl From<NoFit> for Refusal {
    fn from(no_fit: NoFit) -> Self {
        no_fit.refusal
    }
}

/// The largest number of bytes whose padded base64 has at most `base64` characters.
pub const fn raw_cap(base64: usize) -> usize {
    base64 / 4 * 3
}

/// Encodes a raster in a format that the receiver accepts, within the byte limit.
pub fn encode(raster: &Raster, options: &EncodeOptions<'_>) -> Result<Encoded, NoFit> {
    check(raster)?;
    let raster = formats::opaque(raster);
    let content = match options.prefer {
        Prefer::Auto => classify(&raster),
        Prefer::Lossless => Content::Screen,
        Prefer::Photo => Content::Photo,
    };
    let sample = Sample::of(&raster, options.cap);
    let mut least: Option<(usize, Encoding)> = None;
    let mut possible = false;
    for &encoding in encodings(content) {
        let wanted = options.accepts.contains(&encoding.media_type()) && encoding.can_hold(&raster);
        if !wanted || encoding.is_hopeless(least, options.cap) {
            continue;
        }
        possible = true;
        match attempt(&raster, &sample, encoding, options) {
            Ok(Attempt::Fits(encoded)) => return Ok(encoded),
            Ok(Attempt::Over(bytes)) if least.is_none_or(|(least, _)| bytes < least) => {
                least = Some((bytes, encoding));
            }
            // The next encoding may still fit.
            Ok(Attempt::Over(_)) | Err(EncoderFailed) => {}
        }
    }
    Err(no_fit(&raster, &sample, options, possible, least))
}

/// A format and quality range in which a picture can be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Png,
    PngSmall,
    WebpLossless,
    Webp { floor: u8 },
    Jpeg { floor: u8, chroma: Chroma },
}

/// Resolution of the color channels of a JPEG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chroma {
    Full,
    Quarter,
}

/// Encodings in order of preference. Qualities below 40 are never written.
fn encodings(content: Content) -> &'static [Encoding] {
    match content {
        Content::Screen => &[
            Encoding::Png,
            Encoding::PngSmall,
            Encoding::WebpLossless,
            Encoding::Webp { floor: 40 },
            Encoding::Jpeg { floor: 40, chroma: Chroma::Full },
            Encoding::Jpeg { floor: 40, chroma: Chroma::Quarter },
        ],
        // JPEG takes a tenth of WebP's time; WebP is worth it where JPEG artifacts would become
        // visible.
        Content::Photo => &[
            Encoding::Jpeg { floor: 65, chroma: Chroma::Quarter },
            Encoding::Webp { floor: 40 },
            Encoding::Jpeg { floor: 40, chroma: Chroma::Quarter },
            Encoding::Png,
        ],
    }
}

impl Encoding {
    const fn media_type(self) -> &'static str {
        match self {
            Self::Png | Self::PngSmall => "image/png",
            Self::WebpLossless | Self::Webp { .. } => "image/webp",
            Self::Jpeg { .. } => "image/jpeg",
        }
    }

    /// Returns `true` if this encoding cannot fit: a longer search saves a tenth of a PNG, WebP's
    /// predictors half of it, and neither saves more.
    fn is_hopeless(self, least: Option<(usize, Self)>, cap: Option<usize>) -> bool {
        let (Some((least, _)), Some(cap)) = (least, cap) else { return false };
        match self {
            Self::PngSmall => least - least / 8 > cap,
            Self::WebpLossless => least / 2 > cap,
            Self::Png | Self::Webp { .. } | Self::Jpeg { .. } => false,
        }
    }

    /// Encodes at the lowest quality that this encoding may have.
    fn smallest(
        self,
        raster: &Raster,
        options: &EncodeOptions<'_>,
    ) -> Result<Vec<u8>, EncoderFailed> {
        let least = |floor: u8| options.quality.map_or(floor, |quality| quality.clamp(1, floor));
        match self {
            Self::Png => png_usual(raster),
            Self::PngSmall => png_most(raster),
            Self::WebpLossless => formats::webp_lossless(raster),
            Self::Webp { floor } => formats::webp(raster, least(floor)),
            Self::Jpeg { floor, chroma } if raster.layout == Layout::Rgba => {
                formats::jpeg(&formats::flat(raster), least(floor), chroma)
            }
            Self::Jpeg { floor, chroma } => formats::jpeg(raster, least(floor), chroma),
        }
    }

    /// Returns `true` if the format supports the raster's size.
    fn can_hold(self, raster: &Raster) -> bool {
        let edge = raster.width.max(raster.height);
        match self {
            Self::Png | Self::PngSmall => true,
            Self::WebpLossless | Self::Webp { .. } => edge <= photic_webp::MAX_EDGE,
            // libjpeg's limit, which is lower than the format's.
            Self::Jpeg { .. } => edge <= 65_500,
        }
    }
}

/// Encodes a PNG quickly.
fn png_usual(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    png::encode(raster, png::Compression::Usual)
}

/// Encodes a PNG that is smaller, which takes longer.
fn png_most(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    png::encode(raster, png::Compression::Most)
}

/// The result of trying one encoding.
enum Attempt {
    Fits(Encoded),
    /// The number of bytes that it took, or that were predicted.
    Over(usize),
}

/// Tries one encoding within the byte limit.
fn attempt(
    raster: &Raster,
    sample: &Sample<'_>,
    encoding: Encoding,
    options: &EncodeOptions<'_>,
) -> Result<Attempt, EncoderFailed> {
    let outcome = match encoding {
        Encoding::Png => predict::lossless(raster, sample, options.cap, png_usual)?,
        Encoding::PngSmall => predict::lossless(raster, sample, options.cap, png_most)?,
        Encoding::WebpLossless => {
            predict::lossless(raster, sample, options.cap, formats::webp_lossless)?
        }
        Encoding::Webp { floor } => {
            let coarseness = predict::webp_coarseness;
            let quick = |part: &Raster, quality| formats::jpeg(part, quality, Chroma::Quarter);
            let mut codec = codec(80, floor, options, coarseness, &formats::webp);
            codec.quick = (raster.layout != Layout::Rgba).then_some(&quick);
            predict::lossy(raster, sample, &codec)?
        }
        Encoding::Jpeg { .. } if raster.layout == Layout::Rgba => {
            let flat = formats::flat(raster);
            return attempt(&flat, &Sample::of(&flat, options.cap), encoding, options);
        }
        Encoding::Jpeg { floor, chroma } => {
            let usual = match chroma {
                Chroma::Full => 90,
                Chroma::Quarter => 85,
            };
            let coarseness = predict::jpeg_coarseness;
            let encode = |part: &Raster, quality| formats::jpeg(part, quality, chroma);
            let codec = codec(usual, floor, options, coarseness, &encode);
            predict::lossy(raster, sample, &codec)?
        }
    };
    Ok(match outcome {
        Err(bytes) => Attempt::Over(bytes),
        Ok((bytes, quality)) => Attempt::Fits(Encoded {
            bytes,
            media_type: encoding.media_type(),
            quality,
            lossless: quality.is_none(),
        }),
    })
}

/// A codec between its lowest and its usual quality, or the requested one.
fn codec<'a>(
    usual: u8,
    floor: u8,
    options: &EncodeOptions<'_>,
    coarseness: fn(u8) -> f64,
    encode: &'a Encoder<'a>,
) -> Codec<'a> {
    let ceiling = options.quality.unwrap_or(usual).clamp(1, 100);
    let floor = floor.min(ceiling);
    Codec { ceiling, floor, cap: options.cap, coarseness, encode, quick: None }
}

/// Checks that the raster has pixels, and as many as its edges say.
fn check(raster: &Raster) -> Result<(), NoFit> {
    let Raster { width, height, layout, ref data } = *raster;
    let pixels = u64::from(width) * u64::from(height);
    let (code, says) = if pixels == 0 {
        (RefusalCode::Empty, "the picture has no pixels")
    } else if pixels * layout.samples() as u64 != data.len() as u64 {
        (RefusalCode::Corrupt, "the pixels are not as many as the edges say")
    } else {
        return Ok(());
    };
    let refusal = Refusal::new(code, says, "decode the source again");
    Err(NoFit { refusal, scale: None })
}

/// Builds the error when no encoding fits.
fn no_fit(
    raster: &Raster,
    sample: &Sample<'_>,
    options: &EncodeOptions<'_>,
    possible: bool,
    least: Option<(usize, Encoding)>,
) -> NoFit {
    let refuse = |says: String, hint: String| Refusal::new(RefusalCode::CannotFit, says, hint);
    let Raster { width, height, .. } = *raster;
    let (Some(cap), Some((least, encoding))) = (options.cap, least) else {
        let says = if possible {
            format!("no encoder took {width}x{height} pixels")
        } else {
            format!("none of {:?} can be written for {width}x{height} pixels", options.accepts)
        };
        let hint = "accept `image/png`, `image/jpeg` or `image/webp`, or view a smaller region";
        return NoFit { refusal: refuse(says, hint.to_owned()), scale: None };
    };
    let power = sample.power(|part| encoding.smallest(part, options)).unwrap_or(2.0);
    let scale = (cap as f64 * 0.92 / least as f64).powf(1.0 / power).min(0.95);
    let edge = f64::from(width.min(height)) * scale;
    let scale = (edge >= f64::from(MIN_EDGE)).then_some(scale);
    let hint = match scale {
        Some(scale) => format!("scale both edges by {scale:.2} or view a region"),
        None => "raise the cap or view a region".to_owned(),
    };
    let says = format!(
        "{width}x{height} pixels take about {least} bytes at the lowest quality, the cap is {cap}"
    );
    NoFit { refusal: refuse(says, hint), scale }
}
