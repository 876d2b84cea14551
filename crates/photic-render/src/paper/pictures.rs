//! Pictures in prose, from the source or handed over, decoded within limits when drawn.
//!
//! References are never opened: they are listed, and the host may hand the files over.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use photic_pixels::header::{self, Header};
use photic_pixels::{DecodeLimits, Layout, Raster, decode, resize};
use vello_cpu::PixelMetadata;
use vello_cpu::Pixmap;
use vello_cpu::peniko::ImageAlphaType;

use crate::page::{LeftOut, Missing};
use crate::request::{DrawOptions, Fit, Kind, Request};
use crate::svg;

/// Largest number of pixels of one picture.
const MAX_PIXELS: u64 = 32_000_000;
/// Largest number of pixels of all pictures on one page.
pub(super) const MAX_PAGE_PIXELS: u64 = 96_000_000;
/// Largest size of one picture in bytes.
const MAX_BYTES: usize = 32 << 20;

/// A picture of known size.
pub(super) struct Picture<'a> {
    bytes: Cow<'a, [u8]>,
    form: Form,
    /// Its natural width and height.
    pub(super) size: (f64, f64),
}

/// The kind of a picture.
enum Form {
    Pixels(Header),
    Drawing,
}

/// Finds the picture of a reference, or the reason why there is none.
pub(super) fn find<'a>(reference: &str, request: &Request<'a>) -> Result<Picture<'a>, LeftOut> {
    let trimmed = reference.trim();
    let is_data = trimmed.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    if is_data {
        let bytes = data(trimmed).ok_or_else(|| unusable("the data of a picture is broken"))?;
        return of(Cow::Owned(bytes), request);
    }
    let handed = request.files.iter().find(|file| file.reference == reference);
    match handed {
        Some(file) => of(Cow::Borrowed(&file.bytes), request),
        None => Err(LeftOut::new(Missing::External, reference)),
    }
}

/// Reads a picture from bytes.
pub(super) fn of<'a>(bytes: Cow<'a, [u8]>, request: &Request<'a>) -> Result<Picture<'a>, LeftOut> {
    if bytes.len() > MAX_BYTES {
        return Err(unusable("a picture has too many bytes"));
    }
    match header::probe(&bytes) {
        Ok(header) => {
            let pixels = u64::from(header.width) * u64::from(header.height);
            if pixels == 0 || pixels > MAX_PIXELS {
                let (width, height) = (header.width, header.height);
                return Err(unusable(&format!(
                    "a picture of {width}x{height} pixels is too large"
                )));
            }
            let size = (f64::from(header.width), f64::from(header.height));
            Ok(Picture { bytes, form: Form::Pixels(header), size })
        }
        Err(refusal) if !looks_like_xml(&bytes) => Err(unusable(&refusal.says)),
        Err(_) => {
            let page = svg::draw(&drawing(&bytes, request, Fit::Longest(1)));
            let size = page.map_err(|refusal| unusable(&refusal.says))?.facts.size;
            Ok(Picture { bytes, form: Form::Drawing, size })
        }
    }
}

impl Picture<'_> {
    /// Decodes or draws it at a size, and lists what it left out itself.
    pub(super) fn pixels(
        &self,
        (width, height): (u32, u32),
        request: &Request<'_>,
        left_out: &mut Vec<LeftOut>,
        budget: &mut u64,
    ) -> Result<Arc<Pixmap>, LeftOut> {
        let raster = match &self.form {
            Form::Pixels(header) => {
                let pixels = u64::from(header.width) * u64::from(header.height);
                let left = budget.checked_sub(pixels);
                *budget = left.ok_or_else(|| unusable("the pictures of a page are too large"))?;
                let limits = DecodeLimits {
                    pixels: MAX_PIXELS,
                    memory: 256 << 20,
                    ..DecodeLimits::default()
                };
                let wanted =
                    decode::DecodeOptions { at_most: Some((width, height)), ..Default::default() };
                let decoded = decode::decode(&self.bytes, header, &limits, wanted)
                    .map_err(|refusal| unusable(&refusal.says))?;
                resize::resize_window(&decoded.raster, &decoded.window, (width, height))
                    .map_err(|refusal| unusable(&refusal.says))?
            }
            Form::Drawing => {
                let fit = Fit::Longest(width.max(height));
                let page = svg::draw(&drawing(&self.bytes, request, fit))
                    .map_err(|refusal| unusable(&refusal.says))?;
                left_out.extend(page.facts.left_out);
                page.raster
            }
        };
        pixmap(&raster).ok_or_else(|| unusable("a picture is too large"))
    }
}

/// The request for a drawing.
fn drawing<'r>(bytes: &'r [u8], request: &Request<'r>, fit: Fit) -> Request<'r> {
    let wanted = DrawOptions { fit, bounds: request.wanted.bounds, ..DrawOptions::new(Kind::Svg) };
    Request { bytes, wanted, fonts: request.fonts, files: request.files }
}

/// A picture that cannot be used.
fn unusable(says: &str) -> LeftOut {
    LeftOut::new(Missing::Picture, says)
}

/// Returns `true` for bytes that start like XML.
fn looks_like_xml(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    start.is_some_and(|start| bytes[start..].starts_with(b"<"))
}

/// The content of a `data:` URL.
fn data(address: &str) -> Option<Vec<u8>> {
    let (kind, data) = address.get(5..)?.split_once(',')?;
    if data.len() > MAX_BYTES * 2 {
        return None;
    }
    if kind.trim_end().to_ascii_lowercase().ends_with(";base64") {
        base64(&String::from_utf8_lossy(&unescaped(data)))
    } else {
        Some(unescaped(data))
    }
}

/// Decodes base64, with or without line ends and padding.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_BYTES * 2 {
        return None;
    }
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let bytes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    GeneralPurpose::new(&STANDARD, config).decode(bytes).ok()
}

/// Decodes percent escapes.
fn unescaped(data: &str) -> Vec<u8> {
    let mut bytes = data.bytes();
    let mut found = Vec::with_capacity(data.len());
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                found.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => found.push(byte),
        }
    }
    found
}

/// Converts a raster for the rasterizer.
fn pixmap(raster: &Raster) -> Option<Arc<Pixmap>> {
    let (width, height) = (u16::try_from(raster.width).ok()?, u16::try_from(raster.height).ok()?);
    let mut data = Vec::with_capacity(usize::from(width) * usize::from(height) * 4);
    for pixel in raster.data.chunks_exact(raster.layout.samples()) {
        match *pixel {
            [gray] => data.extend([gray, gray, gray, 255]),
            [r, g, b] => data.extend([r, g, b, 255]),
            [r, g, b, a] => data.extend([r, g, b, a]),
            _ => {}
        }
    }
    let opaque = raster.layout != Layout::Rgba;
    let metadata =
        PixelMetadata { alpha_type: ImageAlphaType::Alpha, may_have_transparency: !opaque };
    Some(Arc::new(Pixmap::from_parts(data, width, height, metadata)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_addresses_are_read() {
        assert_eq!(data("data:image/png;base64,aGVs\nbG8"), Some(b"hello".to_vec()));
        assert_eq!(data("data:image/png;BASE64,aGVsbG8%3D"), Some(b"hello".to_vec()));
        assert_eq!(data("DATA:text/plain,a%20b%"), Some(b"a b%".to_vec()));
        assert_eq!(data("data:image/png;base64"), None);
        assert_eq!(data("data:image/png;base64,*"), None);
    }
}
