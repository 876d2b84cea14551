//! Orientation 1 to 8, both byte orders, in every format that can carry it.

use photic_pixels::decode::DecodeOptions;
use photic_pixels::geometry::Rect;
use photic_pixels::{Raster, header};
use png::{BitDepth, ColorType};

use super::make::{self, Png, chunk, colors, exif, part, riff, vp8l, vp8x};
use super::{all, near, open, pixel};

const SIZE: (u32, u32) = (24, 16);

/// Returns the stored position of an upright pixel, by the table of the EXIF specification: which
/// stored side is the visual top, and which the visual left.
fn stored(orientation: u8, (x, y): (u32, u32)) -> (u32, u32) {
    let (right, bottom) = (SIZE.0 - 1, SIZE.1 - 1);
    match orientation {
        1 => (x, y),
        2 => (right - x, y),
        3 => (right - x, bottom - y),
        4 => (x, bottom - y),
        5 => (y, x),
        6 => (y, bottom - x),
        7 => (right - y, bottom - x),
        _ => (right - y, x),
    }
}

fn check(raster: &Raster, orientation: u8, rgb: &[u8], most: u8) {
    let upright = if orientation >= 5 { (SIZE.1, SIZE.0) } else { SIZE };
    assert_eq!((raster.width, raster.height), upright);
    for y in 0..upright.1 {
        for x in 0..upright.0 {
            let (from_x, from_y) = stored(orientation, (x, y));
            let at = (from_y * SIZE.0 + from_x) as usize * 3;
            let got = &pixel(raster, x, y)[..3];
            assert!(near(got, &rgb[at..at + 3], most), "{orientation}: {x},{y}: {got:?}");
        }
    }
}

fn png(extra: Vec<Vec<u8>>) -> Vec<u8> {
    let data = colors(SIZE);
    Png { size: SIZE, color: ColorType::Rgb, depth: BitDepth::Eight, data: &data, extra }.file()
}

#[test]
fn every_orientation_in_every_format() {
    let rgb = colors(SIZE);
    // Blocks of one colour survive JPEG.
    let blocks: Vec<u8> = (0..SIZE.1)
        .flat_map(|y| (0..SIZE.0).flat_map(move |x| [x as u8 / 8 * 100, y as u8 / 8 * 200, 90]))
        .collect();
    let jpeg = make::jpeg(SIZE, &blocks);
    for orientation in 1..=8 {
        for big in [false, true] {
            let exif = exif(orientation, big);
            let file = png(vec![chunk(b"eXIf", &exif)]);
            assert_eq!(header::probe(&file).unwrap().orientation, orientation);
            check(&all(&file), orientation, &rgb, 0);
            let webp = riff(&[vp8x(SIZE, 8), vp8l(SIZE, &rgb, false), part(b"EXIF", &exif)]);
            check(&all(&webp), orientation, &rgb, 0);
            let body = [b"Exif\0\0", &exif[..]].concat();
            check(&all(&make::with_segment(&jpeg, 0xe1, &body)), orientation, &blocks, 4);
        }
    }
}

#[test]
fn a_region_of_a_turned_picture_is_the_region_of_the_upright_one() {
    for orientation in 1..=8 {
        let file = png(vec![chunk(b"eXIf", &exif(orientation, true))]);
        let whole = all(&file);
        for region in [Rect::new(0, 0, 3, 5), Rect::new(4, 7, 9, 2), Rect::new(15, 0, 1, 16)] {
            let wanted = DecodeOptions { region: Some(region), ..DecodeOptions::default() };
            let part = open(&file, wanted).unwrap();
            assert_eq!((part.raster.width, part.raster.height), region.size());
            for y in 0..region.height {
                for x in 0..region.width {
                    let same = pixel(&whole, x + region.x, y + region.y);
                    assert_eq!(pixel(&part.raster, x, y), same, "{orientation} {region:?}");
                }
            }
        }
    }
}

#[test]
fn scaling_a_turned_picture_keeps_its_window_true() {
    // 1003 is not a multiple of eight: the last scaled column hangs over the edge, and after a
    // mirror it comes first.
    let size = (1003, 600);
    let data: Vec<u8> = (0..size.1)
        .flat_map(|_| (0..size.0).flat_map(|x| [255 * u8::from(x >= 504), 0, 0]))
        .collect();
    let jpeg = make::jpeg(size, &data);
    let file = make::with_segment(&jpeg, 0xe1, &[b"Exif\0\0", &exif(2, false)[..]].concat());
    let wanted = DecodeOptions { at_most: Some((100, 60)), ..DecodeOptions::default() };
    let got = open(&file, wanted).unwrap();
    assert_eq!((got.raster.width, got.scale.0), (126, 0.125));
    assert_eq!((got.window.x, got.window.width), (0.625, 125.375));
    // Upright, the edge is at 1003 - 504 = 499.
    let edge = got.window.x + 499.0 * got.scale.0;
    assert!((edge - 63.0).abs() < 1e-9);
    assert!(pixel(&got.raster, 62, 30)[0] > 215 && pixel(&got.raster, 63, 30)[0] < 40);
}

#[test]
fn malformed_exif_is_no_exif() {
    let good = exif(6, true);
    for end in 0..good.len() {
        let file = png(vec![chunk(b"eXIf", &good[..end])]);
        let orientation = header::probe(&file).unwrap().orientation;
        assert!(orientation == 1 || (orientation == 6 && end >= 20));
    }
    for wrong in [0, 9, 255] {
        let file = png(vec![chunk(b"eXIf", &exif(wrong, false))]);
        assert_eq!(header::probe(&file).unwrap().orientation, 1);
    }
}
