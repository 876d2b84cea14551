//! The lossy encoders and WebP, with settings chosen by measurement. PNG is in `png`.

use std::borrow::Cow;

use libjpeg_turbo_rs::{PixelFormat, Subsampling};
use photic_webp::{Channels, Mode};

use super::Chroma;
use crate::{Layout, Raster};

/// An encoder failed. There are no details.
#[derive(Debug)]
pub(super) struct EncoderFailed;

/// libwebp's fastest method: the time it saves buys more quality at the same size elsewhere.
const WEBP_METHOD: u8 = 0;

/// Removes the alpha channel if every pixel is opaque.
pub(super) fn opaque(raster: &Raster) -> Cow<'_, Raster> {
    let (pixels, _) = raster.data.as_chunks::<4>();
    if raster.layout != Layout::Rgba || pixels.iter().any(|pixel| pixel[3] != 255) {
        return Cow::Borrowed(raster);
    }
    Cow::Owned(drop_alpha(raster, |[r, g, b, _]| [r, g, b]))
}

/// Removes the alpha channel: over white, or over black if the visible pixels are light.
pub(super) fn flat(raster: &Raster) -> Raster {
    let (mut light, mut weight) = (0_u64, 0_u64);
    let (pixels, _) = raster.data.as_chunks::<4>();
    for pixel in pixels {
        let [r, g, b, a] = pixel.map(u64::from);
        light += (r * 3 + g * 6 + b) * a / 10;
        weight += a;
    }
    let ground = if light > weight * 170 { 0_u32 } else { 255 };
    drop_alpha(raster, |[r, g, b, alpha]| {
        let alpha = u32::from(alpha);
        let blend = |sample: u8| (u32::from(sample) * alpha + ground * (255 - alpha) + 127) / 255;
        [r, g, b].map(|sample| blend(sample) as u8)
    })
}

/// Maps each pixel to one without alpha.
fn drop_alpha(raster: &Raster, pixel: impl Fn([u8; 4]) -> [u8; 3]) -> Raster {
    let (pixels, _) = raster.data.as_chunks::<4>();
    let data = pixels.iter().flat_map(|&rgba| pixel(rgba)).collect();
    Raster { width: raster.width, height: raster.height, layout: Layout::Rgb, data }
}

/// Encodes a JPEG. The raster must not have alpha: see [`flat`].
pub(super) fn jpeg(raster: &Raster, quality: u8, chroma: Chroma) -> Result<Vec<u8>, EncoderFailed> {
    let (format, subsampling) = match (raster.layout, chroma) {
        (Layout::Gray, _) => (PixelFormat::Grayscale, Subsampling::S444),
        (Layout::Rgb, Chroma::Full) => (PixelFormat::Rgb, Subsampling::S444),
        (Layout::Rgb, Chroma::Quarter) => (PixelFormat::Rgb, Subsampling::S420),
        (Layout::Rgba, _) => return Err(EncoderFailed),
    };
    let (width, height) = (raster.width as usize, raster.height as usize);
    libjpeg_turbo_rs::compress(&raster.data, width, height, format, quality, subsampling)
        .map_err(|_| EncoderFailed)
}

/// Encodes a lossy WebP.
pub(super) fn webp(raster: &Raster, quality: u8) -> Result<Vec<u8>, EncoderFailed> {
    webp_as(raster, Mode::Lossy { quality, method: WEBP_METHOD })
}

/// Encodes a lossless WebP.
pub(super) fn webp_lossless(raster: &Raster) -> Result<Vec<u8>, EncoderFailed> {
    webp_as(raster, Mode::Lossless { effort: 0 })
}

/// Encodes a WebP; gray is widened, since libwebp takes only color.
fn webp_as(raster: &Raster, mode: Mode) -> Result<Vec<u8>, EncoderFailed> {
    let Raster { width, height, layout, ref data } = *raster;
    let done = match layout {
        Layout::Gray => {
            let rgb: Vec<u8> = data.iter().flat_map(|&gray| [gray; 3]).collect();
            photic_webp::encode(&rgb, width, height, Channels::Rgb, mode)
        }
        Layout::Rgb => photic_webp::encode(data, width, height, Channels::Rgb, mode),
        Layout::Rgba => photic_webp::encode(data, width, height, Channels::Rgba, mode),
    };
    done.map_err(|_| EncoderFailed)
}
