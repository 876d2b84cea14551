//! Compares drawn pages exactly with approved pictures. `PHOTIC_BLESS=1` rewrites the pictures.

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{DecodeLimits, Raster, decode, header};
use photic_render::Page;

use crate::data;

/// Holds a page against the picture of this name.
pub(crate) fn assert_approved(name: &str, page: &Page) {
    let path = data("approved").join(format!("{name}.png"));
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(&path, png(&page.raster)).expect("the picture is written");
    }
    let Ok(bytes) = std::fs::read(&path) else { panic!("no approved picture of `{name}`") };
    let header = header::probe(&bytes).expect("a picture");
    let wanted = decode::DecodeOptions::default();
    let approved =
        decode::decode(&bytes, &header, &DecodeLimits::default(), wanted).expect("pixels");
    let (new, old) = (rgba(&page.raster), rgba(&approved.raster));
    let size = |raster: &Raster| (raster.width, raster.height);
    assert_eq!(size(&page.raster), size(&approved.raster), "the size of `{name}`");
    let differ = new.iter().zip(&old).filter(|(new, old)| new != old).count();
    if differ > 0 {
        let got = std::env::temp_dir().join(format!("photic-render-{name}.png"));
        std::fs::write(&got, png(&page.raster)).expect("the picture is written");
        panic!("{differ} pixels of `{name}` differ; what was drawn is {}", got.display());
    }
}

pub(crate) fn png(raster: &Raster) -> Vec<u8> {
    let options =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    encode(raster, &options).expect("a PNG").bytes
}

/// Encoders drop alpha and color that are not used; so compare what they mean.
pub(crate) fn rgba(raster: &Raster) -> Vec<[u8; 4]> {
    let pixels = raster.data.chunks_exact(raster.layout.samples());
    pixels
        .map(|pixel| match *pixel {
            [gray] => [gray, gray, gray, 255],
            [r, g, b] => [r, g, b, 255],
            [_, _, _, 0] => [0; 4],
            [r, g, b, a] => [r, g, b, a],
            _ => unreachable!("one, three or four samples"),
        })
        .collect()
}
