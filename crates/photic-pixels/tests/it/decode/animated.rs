//! GIF, APNG and WebP animations, and contact sheets.

use photic_pixels::decode::{self, DecodeOptions};
use photic_pixels::header::{self, Frames};
use photic_pixels::{DecodeLimits, Layout, Raster, RefusalCode};

use super::make::{part, riff, vp8l, vp8x};
use super::{near, open, pixel};

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255, 255, 255];

fn frame(bytes: &[u8], frame: u32) -> Raster {
    open(bytes, DecodeOptions { frame, ..DecodeOptions::default() }).unwrap().raster
}

/// A red canvas; then green in a corner that goes back; then blue in another that is wiped; then
/// one white pixel.
fn gif() -> Vec<u8> {
    let palette = [RED, GREEN, BLUE, WHITE].concat();
    let mut out = Vec::new();
    let mut encoder = gif::Encoder::new(&mut out, 8, 8, &palette).unwrap();
    for (index, place, dispose) in [
        (0, (0, 0, 8, 8), gif::DisposalMethod::Keep),
        (1, (0, 0, 4, 4), gif::DisposalMethod::Previous),
        (2, (4, 4, 4, 4), gif::DisposalMethod::Background),
        (3, (1, 1, 1, 1), gif::DisposalMethod::Keep),
    ] {
        let (left, top, width, height) = place;
        encoder
            .write_frame(&gif::Frame {
                left,
                top,
                width,
                height,
                dispose,
                buffer: vec![index; usize::from(width) * usize::from(height)].into(),
                ..gif::Frame::default()
            })
            .unwrap();
    }
    drop(encoder);
    out
}

fn check_disposal(bytes: &[u8]) {
    assert_eq!(header::probe(bytes).unwrap().frames, Frames::Known(4));
    let at = |n: u32, x: u32, y: u32| pixel(&frame(bytes, n), x, y).to_vec();
    let opaque = |color: [u8; 3]| [&color[..], &[255]].concat();
    assert_eq!(at(0, 1, 1), opaque(RED));
    assert_eq!((at(1, 1, 1), at(1, 5, 5)), (opaque(GREEN), opaque(RED)));
    assert_eq!((at(2, 1, 1), at(2, 5, 5)), (opaque(RED), opaque(BLUE)));
    assert_eq!((at(3, 1, 1), at(3, 5, 5)[3]), (opaque(WHITE), 0));
    let past = open(bytes, DecodeOptions { frame: 4, ..DecodeOptions::default() }).unwrap_err();
    assert_eq!(past.code, RefusalCode::BadRegion);
}

#[test]
fn gif_frames_are_put_together() {
    check_disposal(&gif());
}

#[test]
fn apng_frames_are_put_together() {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 8, 8);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_animated(4, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    for (color, place, dispose) in [
        (RED, (0, 0, 8, 8), png::DisposeOp::None),
        (GREEN, (0, 0, 4, 4), png::DisposeOp::Previous),
        (BLUE, (4, 4, 4, 4), png::DisposeOp::Background),
        (WHITE, (1, 1, 1, 1), png::DisposeOp::None),
    ] {
        let (left, top, width, height) = place;
        writer.set_frame_dimension(width, height).unwrap();
        writer.set_frame_position(left, top).unwrap();
        writer.set_dispose_op(dispose).unwrap();
        writer.write_image_data(&color.repeat((width * height) as usize)).unwrap();
    }
    writer.finish().unwrap();
    // The first frame comes without alpha when nothing else is asked.
    assert_eq!(frame(&out, 0).layout, Layout::Rgb);
    let at = |n: u32, x: u32, y: u32| pixel(&frame(&out, n), x, y).to_vec();
    assert_eq!((&at(1, 1, 1)[..3], &at(1, 5, 5)[..3]), (&GREEN[..], &RED[..]));
    assert_eq!((&at(2, 1, 1)[..3], &at(2, 5, 5)[..3]), (&RED[..], &BLUE[..]));
    assert_eq!((&at(3, 1, 1)[..3], at(3, 5, 5)[3]), (&WHITE[..], 0));
}

#[test]
fn webp_frames_are_counted_and_shown() {
    let mut parts = vec![vp8x((8, 8), 0x02), part(b"ANIM", &[0; 6])];
    for color in [RED, GREEN, BLUE] {
        let mut body = vec![0; 6];
        body.extend([7, 0, 0, 7, 0, 0, 100, 0, 0, 0]);
        body.extend(vp8l((8, 8), &color.repeat(64), false));
        parts.push(part(b"ANMF", &body));
    }
    let bytes = riff(&parts);
    assert_eq!(header::probe(&bytes).unwrap().frames, Frames::Known(3));
    for (number, color) in [RED, GREEN, BLUE].iter().enumerate() {
        // The decoder's blending is off by one.
        assert!(near(&pixel(&frame(&bytes, number as u32), 3, 3)[..3], color, 1));
    }
}

#[test]
fn a_contact_sheet_shows_evenly_spaced_frames() {
    let bytes = gif();
    let header = header::probe(&bytes).unwrap();
    let sheet =
        |most| decode::contact_sheet(&bytes, &header, &DecodeLimits::default(), most).unwrap();
    let four = sheet(4);
    // Two by two cells of eight, four apart.
    assert_eq!((four.width, four.height, four.layout), (20, 20, Layout::Rgb));
    assert_eq!(pixel(&four, 1, 1), RED);
    assert_eq!(pixel(&four, 13, 1), GREEN);
    assert_eq!(pixel(&four, 5, 17), BLUE);
    assert_eq!(pixel(&four, 9, 9), [160; 3]);
    let two = sheet(2);
    // The first and the third.
    let second = if two.width > two.height { (12 + 5, 5) } else { (5, 12 + 5) };
    assert_eq!(pixel(&two, second.0, second.1), BLUE);
    assert_eq!(sheet(99), four);
    assert_eq!(sheet(0).width, 8);
}

#[test]
fn a_still_has_a_contact_sheet_of_one() {
    let bytes = super::small();
    let header = header::probe(&bytes).unwrap();
    let sheet = decode::contact_sheet(&bytes, &header, &DecodeLimits::default(), 9).unwrap();
    assert_eq!((sheet.width, sheet.height), (20, 10));
}
