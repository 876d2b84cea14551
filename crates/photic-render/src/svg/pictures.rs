//! Pictures inside a drawing, decoded within the limits of `photic-pixels`, never by the renderer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{DecodeLimits, decode, header};
use resvg::usvg::{FontResolver, ImageHrefResolver, ImageKind, Options, Tree};

use super::{limit, references};
use crate::page::LeftOut;

/// Pixels left for the pictures of one drawing.
pub(crate) struct PixelBudget {
    pixels: AtomicU64,
}

impl Default for PixelBudget {
    fn default() -> Self {
        Self { pixels: AtomicU64::new(MAX_PIXELS) }
    }
}

/// Largest number of pixels: twice a photo of today. Each costs the renderer up to twelve bytes.
const MAX_PIXELS: u64 = 32_000_000;

/// Prepares a picture of a drawing for the renderer, or returns the reason why not.
///
/// The renderer's own decoders accept any size. So the bytes are decoded here first, and passed on
/// as a PNG of known size.
pub(crate) fn prepared(
    bytes: &[u8],
    options: &Options<'_>,
    budget: &PixelBudget,
    leave_out: &dyn Fn(LeftOut),
) -> Result<ImageKind, String> {
    let header = match header::probe(bytes) {
        Ok(header) => header,
        Err(refusal) if !looks_like_xml(bytes) => return Err(refusal.says),
        // A drawing inside a drawing; it has no access to files either.
        Err(_) => return drawing(bytes, options, leave_out),
    };
    let pixels = u64::from(header.width) * u64::from(header.height);
    let spend = |left: u64| left.checked_sub(pixels);
    if budget.pixels.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
        let (width, height) = (header.width, header.height);
        return Err(format!("{width}x{height} pixels are more than is left for pictures"));
    }
    let limits = DecodeLimits { pixels: MAX_PIXELS, memory: 256 << 20, ..DecodeLimits::default() };
    let decoded = decode::decode(bytes, &header, &limits, decode::DecodeOptions::default())
        .map_err(|refusal| refusal.says)?;
    let lossless =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    let encoded = encode(&decoded.raster, &lossless).map_err(|_| "it cannot be passed on")?;
    Ok(ImageKind::PNG(Arc::new(encoded.bytes)))
}

/// Reads a drawing inside a drawing.
fn drawing(
    bytes: &[u8],
    options: &Options<'_>,
    leave_out: &dyn Fn(LeftOut),
) -> Result<ImageKind, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    let document = super::parsed(text).map_err(|error| error.to_string())?;
    references::left_out(&document, &[]).into_iter().for_each(leave_out);
    let options = inside(options);
    let tree = match limit::limited(text, &document) {
        None => Tree::from_xmltree(&document, &options),
        Some(limited) => {
            let document = super::parsed(&limited).map_err(|error| error.to_string())?;
            Tree::from_xmltree(&document, &options)
        }
    };
    tree.map(ImageKind::SVG).map_err(|error| error.to_string())
}

/// The options for an inner drawing, without files: those belong to the outer one.
fn inside<'o>(outer: &'o Options<'_>) -> Options<'o> {
    let (fonts, pictures) = (&outer.font_resolver, &outer.image_href_resolver);
    Options {
        font_family: outer.font_family.clone(),
        fontdb: Arc::clone(&outer.fontdb),
        font_resolver: FontResolver {
            select_font: Box::new(|font, database| (fonts.select_font)(font, database)),
            select_fallback: Box::new(|character, used, database| {
                (fonts.select_fallback)(character, used, database)
            }),
        },
        style_sheet: outer.style_sheet.clone(),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|kind, data, options| {
                (pictures.resolve_data)(kind, data, options)
            }),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    }
}

/// Returns `true` for bytes that start like XML.
fn looks_like_xml(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    start.is_some_and(|start| bytes[start..].starts_with(b"<"))
}
