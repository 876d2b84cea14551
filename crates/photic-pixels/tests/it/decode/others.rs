//! WebP, TIFF, BMP, ICO.

use std::io::Cursor;

use image::ImageEncoder;
use photic_pixels::decode::DecodeOptions;
use photic_pixels::header::{self, Format, Frames};
use photic_pixels::{Layout, RefusalCode};
use tiff::encoder::{TiffEncoder, colortype};

use super::make::{colors, exif, riff, vp8l};
use super::{all, open, pixel};

#[test]
fn webp_without_loss_is_exact() {
    let rgb = colors((20, 10));
    assert_eq!(all(&riff(&[vp8l((20, 10), &rgb, false)])).data, rgb);
    let rgba: Vec<u8> =
        rgb.chunks_exact(3).flat_map(|pixel| [pixel, &[pixel[0]]].concat()).collect();
    let got = all(&riff(&[vp8l((20, 10), &rgba, true)]));
    assert_eq!((got.layout, got.data), (Layout::Rgba, rgba));
}

fn tiff<C: colortype::ColorType>(data: &[C::Inner]) -> Vec<u8>
where
    [C::Inner]: tiff::encoder::TiffValue,
{
    let mut out = Cursor::new(Vec::new());
    TiffEncoder::new(&mut out).unwrap().write_image::<C>(8, 4, data).unwrap();
    out.into_inner()
}

#[test]
fn tiff_of_the_usual_kinds() {
    let rgb = colors((8, 4));
    assert_eq!(all(&tiff::<colortype::RGB8>(&rgb)).data, rgb);
    let gray: Vec<u8> = (0..32).collect();
    let got = all(&tiff::<colortype::Gray8>(&gray));
    assert_eq!((got.layout, got.data), (Layout::Gray, gray.clone()));
    let wide: Vec<u16> = gray.iter().map(|&level| u16::from(level) << 8 | 0x77).collect();
    assert_eq!(all(&tiff::<colortype::Gray16>(&wide)).data, gray);
    let rgba: Vec<u8> = (0..128).collect();
    assert_eq!(all(&tiff::<colortype::RGBA8>(&rgba)).data, rgba);
    // No cyan, full magenta and yellow, no black.
    let red = all(&tiff::<colortype::CMYK8>(&[0, 255, 255, 0].repeat(32)));
    assert_eq!((red.layout, pixel(&red, 3, 3)), (Layout::Rgb, &[255, 0, 0][..]));
    let float: Vec<f32> = [0.0, 0.5, 1.0].repeat(32);
    assert_eq!(pixel(&all(&tiff::<colortype::RGB32Float>(&float)), 3, 3), [0, 128, 255]);
}

/// A directory written by hand: tag, type, count, value.
fn raw_tiff(entries: &[(u16, u16, u32, u32)], tail: &[u8]) -> Vec<u8> {
    let mut out = b"II\x2a\0\x08\0\0\0".to_vec();
    out.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in entries {
        out.extend(tag.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    out.extend([0; 4]);
    out.extend_from_slice(tail);
    out
}

#[test]
fn tiff_with_a_palette_and_with_one_bit() {
    // Ten entries: the tail starts at 8 + 2 + 120 + 4.
    let palette: Vec<u8> = (0..48_u16).flat_map(|n| (n * 0x0500).to_le_bytes()).collect();
    let file = raw_tiff(
        &[
            (256, 4, 1, 4),
            (257, 4, 1, 1),
            (258, 3, 1, 4),
            (259, 3, 1, 1),
            (262, 3, 1, 3),
            (273, 4, 1, 134),
            (277, 3, 1, 1),
            (278, 4, 1, 1),
            (279, 4, 1, 2),
            (320, 3, 48, 136),
        ],
        &[&[0x01, 0x2f][..], &palette].concat(),
    );
    assert_eq!(header::probe(&file).unwrap().bits, 4);
    assert_eq!(all(&file).data, [0, 80, 160, 5, 85, 165, 10, 90, 170, 75, 155, 235]);
    let bits = |white_is_zero: u32| {
        raw_tiff(
            &[
                (256, 4, 1, 8),
                (257, 4, 1, 1),
                (258, 3, 1, 1),
                (259, 3, 1, 1),
                (262, 3, 1, 1 - white_is_zero),
                (273, 4, 1, 122),
                (277, 3, 1, 1),
                (278, 4, 1, 1),
                (279, 4, 1, 1),
            ],
            &[0b1100_0001],
        )
    };
    assert_eq!(all(&bits(0)).data, [255, 255, 0, 0, 0, 0, 0, 255]);
    assert_eq!(all(&bits(1)).data, [0, 0, 255, 255, 255, 255, 255, 0]);
}

#[test]
fn tiff_pages_have_their_own_size() {
    let mut out = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut out).unwrap();
    encoder.write_image::<colortype::Gray8>(4, 2, &[7; 8]).unwrap();
    encoder.write_image::<colortype::Gray8>(3, 5, &[9; 15]).unwrap();
    let bytes = out.into_inner();
    assert_eq!(header::probe(&bytes).unwrap().frames, Frames::Known(2));
    let page = open(&bytes, DecodeOptions { frame: 1, ..DecodeOptions::default() }).unwrap();
    assert_eq!((page.raster.width, page.raster.height, page.raster.data[0]), (3, 5, 9));
    assert_eq!((page.scale, page.frames), ((1.0, 1.0), Frames::Known(2)));
    let past = open(&bytes, DecodeOptions { frame: 2, ..DecodeOptions::default() }).unwrap_err();
    assert_eq!(past.code, RefusalCode::BadRegion);
}

#[test]
fn tiff_orientation_is_applied() {
    let entries = |orientation| {
        [
            (256, 4, 1, 2),
            (257, 4, 1, 1),
            (258, 3, 1, 8),
            (259, 3, 1, 1),
            (262, 3, 1, 1),
            (273, 4, 1, 134),
            (274, 3, 1, orientation),
            (277, 3, 1, 1),
            (278, 4, 1, 1),
            (279, 4, 1, 2),
        ]
    };
    assert_eq!(all(&raw_tiff(&entries(3), &[10, 20])).data, [20, 10]);
    let turned = all(&raw_tiff(&entries(6), &[10, 20]));
    assert_eq!((turned.width, turned.height), (1, 2));
    assert_eq!(exif(6, false).len(), 26);
}

#[test]
fn bmp_of_both_directions() {
    let rgb = colors((6, 5));
    let mut file = Vec::new();
    image::codecs::bmp::BmpEncoder::new(&mut file)
        .write_image(&rgb, 6, 5, image::ExtendedColorType::Rgb8)
        .unwrap();
    assert_eq!(all(&file).data, rgb);
    // The height negated: the same rows from the other end.
    file[22..26].copy_from_slice(&(-5_i32).to_le_bytes());
    let got = all(&file);
    assert_eq!(pixel(&got, 2, 0), pixel(&all(&file), 2, 0));
    assert_eq!(pixel(&got, 2, 0), &rgb[(4 * 6 + 2) * 3..][..3]);
}

#[test]
fn an_icon_gives_its_largest_picture() {
    let square = |side: u32| {
        let mut body = vec![40, 0, 0, 0];
        body.extend(side.to_le_bytes());
        body.extend((side * 2).to_le_bytes());
        body.extend([1, 0, 32, 0]);
        body.extend([0; 24]);
        body.extend([30, 20, 10, 255].repeat((side * side) as usize));
        body.extend(vec![0; (side.div_ceil(32) * 4 * side) as usize]);
        body
    };
    let bodies = [square(16), super::small(), square(8)];
    let mut file = vec![0, 0, 1, 0, 3, 0];
    let mut at = 6 + 16 * 3;
    for body in &bodies[..3] {
        // The directory lies about sizes; it is not believed.
        file.extend([16, 16, 0, 0, 1, 0, 32, 0]);
        file.extend((body.len() as u32).to_le_bytes());
        file.extend((at as u32).to_le_bytes());
        at += body.len();
    }
    file.extend(bodies.concat());
    // 16 × 16 is more than 20 × 10.
    let header = header::probe(&file).unwrap();
    assert_eq!((header.format, header.width, header.height), (Format::Ico, 16, 16));
    let got = all(&file);
    assert_eq!((got.layout, pixel(&got, 3, 3)), (Layout::Rgba, &[10, 20, 30, 255][..]));
}
