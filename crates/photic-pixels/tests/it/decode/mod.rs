//! Every way pixels can come in, with files generated here.
#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

mod alpha;
mod animated;
mod announced;
mod color;
mod jpeg;
pub(crate) mod make;
mod memory;
mod others;
mod png;
mod regions;
mod upright;

use photic_pixels::decode::{self, DecodeOptions, Decoded};
use photic_pixels::geometry::Rect;
use photic_pixels::{DecodeLimits, Raster, Refusal, RefusalCode, header};

fn open(bytes: &[u8], wanted: DecodeOptions) -> Result<Decoded, Refusal> {
    let header = header::probe(bytes)?;
    decode::decode(bytes, &header, &DecodeLimits::default(), wanted)
}

fn all(bytes: &[u8]) -> Raster {
    open(bytes, DecodeOptions::default()).unwrap().raster
}

fn pixel(raster: &Raster, x: u32, y: u32) -> &[u8] {
    let samples = raster.layout.samples();
    let at = (y as usize * raster.width as usize + x as usize) * samples;
    &raster.data[at..at + samples]
}

/// No sample further than `most` from its like.
fn near(left: &[u8], right: &[u8], most: u8) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(l, r)| l.abs_diff(*r) <= most)
}

fn small() -> Vec<u8> {
    make::Png {
        size: (20, 10),
        color: ::png::ColorType::Rgb,
        depth: ::png::BitDepth::Eight,
        data: &make::colors((20, 10)),
        extra: Vec::new(),
    }
    .file()
}

#[test]
fn limits_hold_before_anything_is_decoded() {
    let bytes = small();
    let header = header::probe(&bytes).unwrap();
    let code = |limits: DecodeLimits<'_>| {
        decode::decode(&bytes, &header, &limits, DecodeOptions::default()).unwrap_err().code
    };
    let room = DecodeLimits::default();
    assert_eq!(code(DecodeLimits { file_bytes: 10, ..room }), RefusalCode::TooLarge);
    assert_eq!(code(DecodeLimits { pixels: 199, ..room }), RefusalCode::TooLarge);
    assert_eq!(code(DecodeLimits { frames: 0, ..room }), RefusalCode::TooLarge);
    assert_eq!(code(DecodeLimits { memory: 600, ..room }), RefusalCode::TooLarge);
    assert_eq!(
        code(DecodeLimits { time: std::time::Duration::ZERO, ..room }),
        RefusalCode::TooLarge
    );
}

#[test]
fn a_region_is_checked_against_the_picture() {
    let bytes = small();
    let ask =
        |region| open(&bytes, DecodeOptions { region: Some(region), ..DecodeOptions::default() });
    let code = |region| ask(region).unwrap_err().code;
    assert_eq!(code(Rect::new(20, 0, 1, 1)), RefusalCode::BadRegion);
    assert_eq!(code(Rect::new(0, 0, 0, 1)), RefusalCode::BadRegion);
    assert_eq!(ask(Rect::new(15, 5, 100, 100)).unwrap().raster.width, 5);
}

#[test]
fn a_frame_that_is_not_there_is_refused() {
    let wanted = DecodeOptions { frame: 1, ..DecodeOptions::default() };
    assert_eq!(open(&small(), wanted).unwrap_err().code, RefusalCode::BadRegion);
}

#[test]
fn formats_without_a_decoder_are_still_measured() {
    let read = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bad").join(name);
        std::fs::read(path).unwrap()
    };
    let heic = header::probe(&read("unsupported-heic.heic")).unwrap();
    assert_eq!((heic.width, heic.height, heic.orientation), (3024, 4032, 8));
    let avif = header::probe(&read("unsupported-avif.avif")).unwrap();
    assert_eq!((avif.width, avif.height, avif.bits), (64, 48, 8));
    // Small, 64 high, square; all metadata by default.
    let jxl = header::probe(&[0xff, 0x0a, 0x4f, 0x02]).unwrap();
    assert_eq!((jxl.width, jxl.height), (64, 64));
    let refusal = open(&read("unsupported-heic.heic"), DecodeOptions::default()).unwrap_err();
    assert!(refusal.says.contains("HEIC"), "{refusal}");
}

#[test]
fn what_is_no_image_is_named() {
    for (bytes, word) in [
        (&b"version https://git-lfs.github.com/spec/v1\n"[..], "Git LFS pointer"),
        (b"<!doctype html><p>404", "HTML"),
        (b"{\"error\": 1}", "JSON"),
        (b"export const a = 1;", "text"),
        (b"<svg xmlns='x'/>", "SVG"),
        (b"<?xml version='1.0'?><!-- x --><svg/>", "SVG"),
        (b"%PDF-1.7", "PDF"),
        (b"8BPS\0\x01", "Photoshop"),
    ] {
        let refusal = header::probe(bytes).unwrap_err();
        assert!(refusal.says.contains(word), "{refusal}");
        assert!(!refusal.says.ends_with('.'));
    }
}
