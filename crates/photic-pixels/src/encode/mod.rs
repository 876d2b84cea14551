//! Bytes for the wire: the format by content, the quality by prediction.
//!
//! Owns every encoder. Screens and text stay lossless where the cap allows it, photographs become
//! JPEG, WebP is written only for those who read it. Under a cap the size is predicted from a
//! sample of the rows and the picture is encoded once, seldom twice; there is no ladder. The same
//! pixels and options give the same bytes, on any number of threads. Must never scale (the caller
//! does, by the factor a [`NoFit`] names) and never write metadata.

mod content;
mod formats;
mod predict;

use crate::{Layout, Raster, Refusal, RefusalCode};

pub use content::{Content, classify};
use formats::Failed;
use predict::{Codec, Encoder, Sample};

/// The shortest edge that shrinking for a cap may leave, as in seed 003.
pub const MIN_EDGE: u32 = 100;

/// What the receiver reads, and what it allows.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// Media types that may be sent.
    pub accepts: &'a [&'a str],
    /// Most bytes, before base64; [`raw_cap`] translates a cap on base64.
    pub cap: Option<usize>,
    /// Who chooses between lossless and lossy.
    pub prefer: Prefer,
    /// Highest lossy quality, 1 to 100, instead of the one that suits the content.
    pub quality: Option<u8>,
}

impl Default for EncodeOptions<'_> {
    /// What every endpoint reads, without a cap.
    fn default() -> Self {
        Self {
            accepts: &["image/png", "image/jpeg"],
            cap: None,
            prefer: Prefer::Auto,
            quality: None,
        }
    }
}

/// Who chooses between lossless and lossy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// The content does.
    Auto,
    /// Lossless if it fits the cap, then what keeps text sharp.
    Lossless,
    /// Lossy, as for a photograph.
    Photo,
}

/// Bytes and what they are.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its type.
    pub media_type: &'static str,
    /// The encoder's quality; none for lossless.
    pub quality: Option<u8>,
    /// Whether decoding gives the same samples back.
    pub lossless: bool,
}

impl std::fmt::Debug for Encoded {
    /// Never the bytes: they must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} of {} bytes, quality {:?}>", self.media_type, self.bytes.len(), self.quality)
    }
}

/// Nothing fits; with the factor that would.
#[derive(Clone, Debug, PartialEq)]
pub struct NoFit {
    /// What to tell.
    pub refusal: Refusal,
    /// Both edges times this are predicted to fit; none if an edge would fall under [`MIN_EDGE`],
    /// or if size is not the trouble.
    pub scale: Option<f64>,
}

impl From<NoFit> for Refusal {
    fn from(no_fit: NoFit) -> Self {
        no_fit.refusal
    }
}

/// Most raw bytes whose padded base64 has at most so many characters.
pub const fn raw_cap(base64: usize) -> usize {
    base64 / 4 * 3
}

/// The raster as a file that the receiver reads and the cap allows.
pub fn encode(raster: &Raster, options: &EncodeOptions<'_>) -> Result<Encoded, NoFit> {
    check(raster)?;
    let raster = formats::opaque(raster);
    let content = match options.prefer {
        Prefer::Auto => classify(&raster),
        Prefer::Lossless => Content::Screen,
        Prefer::Photo => Content::Photo,
    };
    let sample = Sample::of(&raster, options.cap);
    let mut least: Option<(usize, Way)> = None;
    let mut possible = false;
    for &way in ways(content) {
        let wanted = options.accepts.contains(&way.media_type()) && way.can_hold(&raster);
        if !wanted || way.is_hopeless(least, options.cap) {
            continue;
        }
        possible = true;
        match attempt(&raster, &sample, way, options) {
            Ok(Attempt::Fits(encoded)) => return Ok(encoded),
            Ok(Attempt::Over(bytes)) if least.is_none_or(|(least, _)| bytes < least) => {
                least = Some((bytes, way));
            }
            // The next way may still do; if none does, nothing fits.
            Ok(Attempt::Over(_)) | Err(Failed) => {}
        }
    }
    Err(no_fit(&raster, &sample, options, possible, least))
}

/// One way to write the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Png,
    PngSmall,
    WebpLossless,
    Webp { floor: u8 },
    Jpeg { floor: u8, chroma: Chroma },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chroma {
    Full,
    Quarter,
}

/// In order of preference. Qualities under 40 are never written: seed 003's last rung.
fn ways(content: Content) -> &'static [Way] {
    match content {
        Content::Screen => &[
            Way::Png,
            Way::PngSmall,
            Way::WebpLossless,
            Way::Webp { floor: 40 },
            Way::Jpeg { floor: 40, chroma: Chroma::Full },
            Way::Jpeg { floor: 40, chroma: Chroma::Quarter },
        ],
        // JPEG costs a tenth of WebP; WebP earns its time where JPEG would start to show.
        Content::Photo => &[
            Way::Jpeg { floor: 65, chroma: Chroma::Quarter },
            Way::Webp { floor: 40 },
            Way::Jpeg { floor: 40, chroma: Chroma::Quarter },
            Way::Png,
        ],
    }
}

impl Way {
    const fn media_type(self) -> &'static str {
        match self {
            Self::Png | Self::PngSmall => "image/png",
            Self::WebpLossless | Self::Webp { .. } => "image/webp",
            Self::Jpeg { .. } => "image/jpeg",
        }
    }

    /// A better deflate or WebP's predictors may halve what the fast deflate leaves, not more.
    fn is_hopeless(self, least: Option<(usize, Self)>, cap: Option<usize>) -> bool {
        let (Some((least, _)), Some(cap)) = (least, cap) else { return false };
        matches!(self, Self::PngSmall | Self::WebpLossless) && least / 2 > cap
    }

    /// The picture at the least quality that this way may have.
    fn smallest(self, raster: &Raster, options: &EncodeOptions<'_>) -> Result<Vec<u8>, Failed> {
        let least = |floor: u8| options.quality.map_or(floor, |quality| quality.clamp(1, floor));
        match self {
            Self::Png => formats::png(raster),
            Self::PngSmall => formats::png_small(raster),
            Self::WebpLossless => formats::webp_lossless(raster),
            Self::Webp { floor } => formats::webp(raster, least(floor)),
            Self::Jpeg { floor, chroma } if raster.layout == Layout::Rgba => {
                formats::jpeg(&formats::flat(raster), least(floor), chroma)
            }
            Self::Jpeg { floor, chroma } => formats::jpeg(raster, least(floor), chroma),
        }
    }

    fn can_hold(self, raster: &Raster) -> bool {
        let edge = raster.width.max(raster.height);
        match self {
            Self::Png | Self::PngSmall => true,
            Self::WebpLossless | Self::Webp { .. } => edge <= photic_webp::MAX_EDGE,
            // What libjpeg takes, not what the format could say.
            Self::Jpeg { .. } => edge <= 65_500,
        }
    }
}

enum Attempt {
    Fits(Encoded),
    /// The bytes that it took, or that were predicted.
    Over(usize),
}

fn attempt(
    raster: &Raster,
    sample: &Sample<'_>,
    way: Way,
    options: &EncodeOptions<'_>,
) -> Result<Attempt, Failed> {
    let outcome = match way {
        Way::Png => predict::lossless(raster, sample, options.cap, formats::png)?,
        Way::PngSmall => predict::lossless(raster, sample, options.cap, formats::png_small)?,
        Way::WebpLossless => {
            predict::lossless(raster, sample, options.cap, formats::webp_lossless)?
        }
        Way::Webp { floor } => {
            let coarseness = predict::webp_coarseness;
            let quick = |part: &Raster, quality| formats::jpeg(part, quality, Chroma::Quarter);
            let mut codec = codec(80, floor, options, coarseness, &formats::webp);
            codec.quick = (raster.layout != Layout::Rgba).then_some(&quick);
            predict::lossy(raster, sample, &codec)?
        }
        Way::Jpeg { .. } if raster.layout == Layout::Rgba => {
            let flat = formats::flat(raster);
            return attempt(&flat, &Sample::of(&flat, options.cap), way, options);
        }
        Way::Jpeg { floor, chroma } => {
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
            media_type: way.media_type(),
            quality,
            lossless: quality.is_none(),
        }),
    })
}

/// A codec between its floor and its usual quality, or the one that was asked for.
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

fn no_fit(
    raster: &Raster,
    sample: &Sample<'_>,
    options: &EncodeOptions<'_>,
    possible: bool,
    least: Option<(usize, Way)>,
) -> NoFit {
    let refuse = |says: String, hint: String| Refusal::new(RefusalCode::CannotFit, says, hint);
    let Raster { width, height, .. } = *raster;
    let (Some(cap), Some((least, way))) = (options.cap, least) else {
        let says = if possible {
            format!("no encoder took {width}x{height} pixels")
        } else {
            format!("none of {:?} can be written for {width}x{height} pixels", options.accepts)
        };
        let hint = "accept `image/png`, `image/jpeg` or `image/webp`, or view a smaller region";
        return NoFit { refusal: refuse(says, hint.to_owned()), scale: None };
    };
    let power = sample.power(|part| way.smallest(part, options)).unwrap_or(2.0);
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
