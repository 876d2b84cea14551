//! Predicts the encoded size of a picture from an eighth of it.
//!
//! A sample of bands is encoded with the real encoder, and its size is scaled by the number of
//! rows. Two such trials give the slope against quality, and one encode of the whole picture
//! corrects what the sample missed.

use std::borrow::Cow;

use super::formats::EncoderFailed;
use crate::Raster;

/// Number of pixels below which the sample is the whole picture.
const SMALL: u64 = 200_000;

/// Rows of one band: whole blocks of every codec.
const BAND: u32 = 16;

/// One row of this many is sampled.
const SHARE: u32 = 8;

/// Approximate number of bytes of a file before its first pixel.
const HEAD: f64 = 600.0;

/// Share of the byte limit to aim for.
const AIM: f64 = 0.96;

/// Bands of a picture, one above the other.
pub(super) struct Sample<'a> {
    raster: Cow<'a, Raster>,
    /// Rows of the picture for each row of the sample.
    ratio: f64,
}

impl<'a> Sample<'a> {
    /// Samples a picture. It is copied only if a byte limit may require it.
    pub(super) fn of(raster: &'a Raster, cap: Option<usize>) -> Self {
        let bands = raster.height / (BAND * SHARE);
        let pixels = u64::from(raster.width) * u64::from(raster.height);
        let roomy = cap.is_none_or(|cap| raster.data.len() <= cap);
        if roomy || bands < 2 || pixels <= SMALL {
            return Self { raster: Cow::Borrowed(raster), ratio: 1.0 };
        }
        let row_len = raster.width as usize * raster.layout.samples();
        let band_len = BAND as usize * row_len;
        let mut data = Vec::with_capacity(bands as usize * band_len);
        for band in 0..bands {
            // Centered in its slice, which is at least eight bands high.
            let y = (2 * band + 1) * raster.height / (2 * bands) - BAND / 2;
            let start = y as usize * row_len;
            data.extend_from_slice(raster.data.get(start..start + band_len).unwrap_or_default());
        }
        let height = bands * BAND;
        let ratio = f64::from(raster.height) / f64::from(height);
        let raster = Raster { width: raster.width, height, layout: raster.layout, data };
        Self { raster: Cow::Owned(raster), ratio }
    }

    /// Returns `true` if the sample is the whole picture.
    fn is_whole(&self) -> bool {
        matches!(self.raster, Cow::Borrowed(_))
    }

    /// The exponent by which bytes grow with the edge: 2 for noise, less for pictures, whose detail
    /// moves closer together when they shrink. Measured on the sample and its half.
    pub(super) fn power(
        &self,
        encode: impl Fn(&Raster) -> Result<Vec<u8>, EncoderFailed>,
    ) -> Option<f64> {
        let weigh = |raster: &Raster| Some((encode(raster).ok()?.len() as f64 - HEAD).max(1.0));
        let half = halved(&self.raster)?;
        Some((weigh(&self.raster)? / weigh(&half)?).log2().clamp(0.7, 2.0))
    }

    /// Scales the size of the sample to that of the whole picture.
    fn scaled(&self, bytes: usize) -> f64 {
        if self.is_whole() {
            return bytes as f64;
        }
        (bytes as f64 - HEAD).max(1.0) * self.ratio + HEAD
    }
}

/// Averages every four pixels.
fn halved(raster: &Raster) -> Option<Raster> {
    let samples = raster.layout.samples();
    let row_len = raster.width as usize * samples;
    let (width, height) = (raster.width / 2, raster.height / 2);
    let mut data = Vec::with_capacity(raster.data.len() / 4);
    for pair in raster.data.chunks_exact(row_len * 2) {
        let (upper, lower) = pair.split_at(row_len);
        for x in (0..width as usize).map(|x| x * 2 * samples) {
            for at in x..x + samples {
                let four = [
                    upper.get(at)?,
                    upper.get(at + samples)?,
                    lower.get(at)?,
                    lower.get(at + samples)?,
                ];
                data.push(
                    (four.into_iter().map(|&sample| u32::from(sample)).sum::<u32>() / 4) as u8,
                );
            }
        }
    }
    (width > 0 && height > 0).then_some(Raster { width, height, layout: raster.layout, data })
}

/// Encodes pixels at a quality.
pub(super) type Encoder<'a> = dyn Fn(&Raster, u8) -> Result<Vec<u8>, EncoderFailed> + 'a;

/// A lossy encoder and how its size depends on quality.
pub(super) struct Codec<'a> {
    /// The preferred quality.
    pub(super) ceiling: u8,
    /// The lowest quality that is sent.
    pub(super) floor: u8,
    /// Largest number of bytes.
    pub(super) cap: Option<usize>,
    /// Maps quality to a scale on which the logarithm of the size is nearly linear.
    pub(super) coarseness: fn(u8) -> f64,
    pub(super) encode: &'a Encoder<'a>,
    /// A much faster encoder whose files are rarely smaller: if its sample fits, no other trial is
    /// made.
    pub(super) quick: Option<&'a Encoder<'a>>,
}

/// The logarithm of libjpeg's factor on its quantization tables.
pub(super) fn jpeg_coarseness(quality: u8) -> f64 {
    let quality = f64::from(quality.clamp(1, 99));
    if quality < 50.0 { (5000.0 / quality).ln() } else { (200.0 - 2.0 * quality).ln() }
}

/// libwebp's curve from quality to compression, inverted.
pub(super) fn webp_coarseness(quality: u8) -> f64 {
    let quality = f64::from(quality.min(100)) / 100.0;
    let linear = if quality < 0.75 { quality * 2.0 / 3.0 } else { 2.0 * quality - 1.0 };
    -linear.cbrt()
}

/// The bytes and their quality, or the number of bytes that it would have been.
pub(super) type Outcome = Result<Result<(Vec<u8>, Option<u8>), usize>, EncoderFailed>;

/// Encodes the whole picture only if the sample may fit.
pub(super) fn lossless(
    raster: &Raster,
    sample: &Sample<'_>,
    cap: Option<usize>,
    encode: fn(&Raster) -> Result<Vec<u8>, EncoderFailed>,
) -> Outcome {
    let Some(cap) = cap else {
        return Ok(Ok((encode(raster)?, None)));
    };
    if !sample.is_whole() {
        let predicted = sample.scaled(encode(&sample.raster)?.len());
        // Bands lose repetition between them, so the sample tends to predict too much.
        if predicted > cap as f64 * 1.2 {
            return Ok(Err(predicted as usize));
        }
    }
    let bytes = encode(raster)?;
    Ok(if bytes.len() <= cap { Ok((bytes, None)) } else { Err(bytes.len()) })
}

/// Finds the best quality that fits, with one or two encodes of the whole picture.
pub(super) fn lossy(raster: &Raster, sample: &Sample<'_>, codec: &Codec<'_>) -> Outcome {
    let Codec { ceiling, floor, encode, .. } = *codec;
    let Some(cap) = codec.cap else {
        return Ok(Ok((encode(raster, ceiling)?, Some(ceiling))));
    };
    let room = cap as f64;
    let trial = |encode: &Encoder<'_>, quality: u8| -> Result<f64, EncoderFailed> {
        Ok(sample.scaled(encode(&sample.raster, quality)?.len()))
    };
    let mut top = match codec.quick {
        _ if sample.is_whole() => 0.0,
        Some(quick) => trial(quick, ceiling)?,
        None => trial(encode, ceiling)?,
    };
    if top > room * AIM && codec.quick.is_some() {
        top = trial(encode, ceiling)?;
    }
    let mut seen: Option<(u8, usize)> = None;
    if top <= room * AIM {
        let bytes = encode(raster, ceiling)?;
        if bytes.len() <= cap {
            return Ok(Ok((bytes, Some(ceiling))));
        }
        seen = Some((ceiling, bytes.len()));
        top = bytes.len() as f64;
    }
    if ceiling == floor {
        return Ok(Err(top as usize));
    }
    let bottom = trial(encode, floor)?;
    if bottom > room * 1.15 {
        return Ok(Err(bottom as usize));
    }
    let curve = Curve::through(codec, top, bottom);
    // Two attempts, the second corrected by the size of the first, then the lowest quality.
    for last in [false, false, true] {
        let wrong = seen.map_or(1.0, |(quality, bytes)| bytes as f64 / curve.at(quality));
        let below = seen.map_or(ceiling, |(quality, _)| quality - 1);
        let fits = |&quality: &u8| !last && curve.at(quality) * wrong <= room * AIM;
        let quality = (floor..=below).rev().find(fits).unwrap_or(floor);
        let bytes = encode(raster, quality)?;
        if bytes.len() <= cap {
            return Ok(Ok((bytes, Some(quality))));
        }
        seen = Some((quality, bytes.len()));
        if quality == floor {
            break;
        }
    }
    Ok(Err(seen.map_or(bottom as usize, |(_, bytes)| bytes)))
}

/// Size against quality: a straight line through two trials, in logarithms.
struct Curve {
    coarseness: fn(u8) -> f64,
    from: f64,
    log: f64,
    slope: f64,
}

impl Curve {
    fn through(codec: &Codec<'_>, top: f64, bottom: f64) -> Self {
        let (fine, coarse) = ((codec.coarseness)(codec.ceiling), (codec.coarseness)(codec.floor));
        let slope = (bottom.ln() - top.ln()) / (coarse - fine);
        Self { coarseness: codec.coarseness, from: fine, log: top.ln(), slope }
    }

    fn at(&self, quality: u8) -> f64 {
        (self.log + self.slope * ((self.coarseness)(quality) - self.from)).exp()
    }
}
