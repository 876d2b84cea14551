//! PNG: depths, palettes, passes, shrinking.

use photic_pixels::decode::DecodeOptions;
use photic_pixels::geometry::Rect;
use photic_pixels::{Layout, header};
use png::{BitDepth, ColorType};

use super::make::{Png, chunk, colors};
use super::{all, open, pixel};

fn png(size: (u32, u32), color: ColorType, depth: BitDepth, data: &[u8]) -> Png<'_> {
    Png { size, color, depth, data, extra: Vec::new() }
}

#[test]
fn sixteen_bits_keep_their_upper_half() {
    let rgb = all(&png(
        (2, 1),
        ColorType::Rgb,
        BitDepth::Sixteen,
        &[0xff, 0xff, 0x80, 0x10, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc],
    )
    .file());
    assert_eq!((rgb.layout, &rgb.data[..]), (Layout::Rgb, &[255, 128, 0, 0x12, 0x56, 0x9a][..]));
    let gray = all(&png((1, 1), ColorType::Grayscale, BitDepth::Sixteen, &[0x42, 0x99]).file());
    assert_eq!((gray.layout, &gray.data[..]), (Layout::Gray, &[0x42][..]));
    let file = png((1, 1), ColorType::Rgba, BitDepth::Sixteen, &[1, 0, 2, 0, 3, 0, 4, 0]).file();
    assert_eq!(all(&file).data, [1, 2, 3, 4]);
    let header = header::probe(&file).unwrap();
    assert_eq!((header.bits, header.alpha), (16, true));
}

#[test]
fn palettes_of_every_depth_with_and_without_clear_entries() {
    let palette = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120];
    for (depth, packed) in [
        (BitDepth::Two, &[0b0001_1011][..]),
        (BitDepth::Four, &[0x01, 0x23]),
        (BitDepth::Eight, &[0, 1, 2, 3]),
    ] {
        let mut made = png((4, 1), ColorType::Indexed, depth, packed);
        made.extra = vec![chunk(b"PLTE", &palette)];
        let raster = all(&made.file());
        assert_eq!((raster.layout, &raster.data[..]), (Layout::Rgb, &palette[..]));
        made.extra.push(chunk(b"tRNS", &[0, 128]));
        let raster = all(&made.file());
        assert_eq!(raster.layout, Layout::Rgba);
        assert_eq!(raster.data[..8], [10, 20, 30, 0, 40, 50, 60, 128]);
        assert_eq!(raster.data[8..], [70, 80, 90, 255, 100, 110, 120, 255]);
    }
    let mut one = png((8, 1), ColorType::Indexed, BitDepth::One, &[0b1010_0000]);
    one.extra = vec![chunk(b"PLTE", &palette[..6])];
    assert_eq!(all(&one.file()).data[..9], [40, 50, 60, 10, 20, 30, 40, 50, 60]);
}

#[test]
fn gray_of_every_depth_and_gray_with_alpha() {
    let one = all(&png((8, 1), ColorType::Grayscale, BitDepth::One, &[0b1100_0001]).file());
    assert_eq!(one.data, [255, 255, 0, 0, 0, 0, 0, 255]);
    let two = all(&png((4, 1), ColorType::Grayscale, BitDepth::Two, &[0b0001_1011]).file());
    assert_eq!(two.data, [0, 85, 170, 255]);
    let four = all(&png((2, 1), ColorType::Grayscale, BitDepth::Four, &[0x3f]).file());
    assert_eq!(four.data, [51, 255]);
    let both = all(&png((2, 1), ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 0, 7, 99]).file());
    assert_eq!((both.layout, &both.data[..]), (Layout::Rgba, &[9, 9, 9, 0, 7, 7, 7, 99][..]));
    let mut keyed = png((2, 1), ColorType::Grayscale, BitDepth::Eight, &[5, 6]);
    keyed.extra = vec![chunk(b"tRNS", &[0, 5])];
    assert_eq!(all(&keyed.file()).data, [5, 5, 5, 0, 6, 6, 6, 255]);
    let mut keyed = png((2, 1), ColorType::Rgb, BitDepth::Eight, &[1, 2, 3, 4, 5, 6]);
    keyed.extra = vec![chunk(b"tRNS", &[0, 1, 0, 2, 0, 3])];
    assert_eq!(all(&keyed.file()).data, [1, 2, 3, 0, 4, 5, 6, 255]);
}

#[test]
fn seven_passes_give_what_one_gives() {
    for size in [(1, 1), (3, 5), (16, 9), (33, 20)] {
        let data = colors(size);
        let made = png(size, ColorType::Rgb, BitDepth::Eight, &data);
        let interlaced = made.interlaced();
        assert!(header::probe(&interlaced).unwrap().passes);
        assert_eq!(all(&interlaced), all(&made.file()));
        assert_eq!(all(&interlaced).data, data);
    }
}

#[test]
fn a_region_is_the_same_pixels_as_in_the_whole() {
    let size = (31, 17);
    let data = colors(size);
    let made = png(size, ColorType::Rgb, BitDepth::Eight, &data);
    for file in [made.file(), made.interlaced()] {
        let region = Rect::new(5, 3, 20, 11);
        let part = open(&file, DecodeOptions { region: Some(region), ..DecodeOptions::default() })
            .unwrap();
        assert_eq!((part.raster.width, part.raster.height, part.scale), (20, 11, (1.0, 1.0)));
        let whole = all(&file);
        for (x, y) in [(0, 0), (19, 10), (7, 4)] {
            assert_eq!(pixel(&part.raster, x, y), pixel(&whole, x + 5, y + 3));
        }
    }
}

#[test]
fn a_large_picture_is_averaged_on_the_way_to_twice_the_size_asked() {
    let size = (103, 82);
    let data: Vec<u8> = (0..size.0 * size.1).flat_map(|n| [(n % 251) as u8; 3]).collect();
    let file = png(size, ColorType::Rgb, BitDepth::Eight, &data).file();
    let wanted = DecodeOptions { at_most: Some((10, 8)), ..DecodeOptions::default() };
    let small = open(&file, wanted).unwrap();
    // 103/10 and 82/8 are ten; half of it is five.
    assert_eq!((small.raster.width, small.raster.height), (21, 17));
    assert_eq!(small.scale, (0.2, 0.2));
    assert_eq!((small.window.width, small.window.height), (103.0 / 5.0, 82.0 / 5.0));
    let cell = |x0: u32, y0: u32, x1: u32, y1: u32| {
        let all: Vec<u32> =
            (y0..y1).flat_map(|y| (x0..x1).map(move |x| (y * size.0 + x) % 251)).collect();
        ((all.iter().sum::<u32>() + all.len() as u32 / 2) / all.len() as u32) as u8
    };
    assert_eq!(pixel(&small.raster, 2, 3), [cell(10, 15, 15, 20); 3]);
    assert_eq!(pixel(&small.raster, 20, 16), [cell(100, 80, 103, 82); 3]);
}

#[test]
fn averaging_lets_no_color_bleed_from_clear_pixels() {
    let row = [[255, 0, 0, 255], [0, 255, 0, 0]].concat().repeat(40);
    let data = row.repeat(80);
    let file = png((80, 80), ColorType::Rgba, BitDepth::Eight, &data).file();
    let small = open(&file, DecodeOptions { at_most: Some((20, 20)), ..DecodeOptions::default() })
        .unwrap()
        .raster;
    assert_eq!((small.width, pixel(&small, 5, 5)), (40, &[255, 0, 0, 128][..]));
}
