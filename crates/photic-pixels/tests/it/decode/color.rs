//! Profiles to sRGB.

use moxcms::ColorProfile;
use photic_pixels::decode::{DecodeOptions, Note};
use photic_pixels::header::{self, Profile};
use png::{BitDepth, ColorType};

use super::make::{self, Png, chunk, part, riff, vp8l, vp8x};
use super::{all, near, open, pixel};

const P3: [u8; 3] = [200, 100, 50];

/// Display P3 to sRGB from the published primaries, in floating point.
fn reference([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let light = |sample: u8| {
        let value = f64::from(sample) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let (red, green, blue) = (light(red), light(green), light(blue));
    let code = |light: f64| {
        let light = light.clamp(0.0, 1.0);
        let value = if light <= 0.003_130_8 {
            light * 12.92
        } else {
            1.055 * light.powf(1.0 / 2.4) - 0.055
        };
        (value * 255.0).round() as u8
    };
    [
        code(1.224_940 * red - 0.224_940 * green),
        code(-0.042_057 * red + 1.042_057 * green),
        code(-0.019_638 * red - 0.078_636 * green + 1.098_274 * blue),
    ]
}

fn iccp(profile: &ColorProfile) -> Vec<u8> {
    let packed = fdeflate::compress_to_vec(&profile.encode().unwrap());
    chunk(b"iCCP", &[b"profile\0\0", &packed[..]].concat())
}

fn png(data: &[u8], color: ColorType, extra: Vec<Vec<u8>>) -> Vec<u8> {
    Png { size: (16, 16), color, depth: BitDepth::Eight, data, extra }.file()
}

#[test]
fn display_p3_is_turned_into_srgb_wherever_it_is_named() {
    let expected = reference(P3);
    assert!(!near(&expected, &P3, 8), "the test colour must move");
    let p3 = ColorProfile::new_display_p3();
    let icc = p3.encode().unwrap();
    let data = P3.repeat(256);
    let by_profile = png(&data, ColorType::Rgb, vec![iccp(&p3)]);
    let by_codes = png(&data, ColorType::Rgb, vec![chunk(b"cICP", &[12, 13, 0, 1])]);
    assert_eq!(header::probe(&by_codes).unwrap().profile, Some(Profile::DisplayP3));
    let jpeg = make::jpeg((16, 16), &data);
    let jpeg = make::with_segment(&jpeg, 0xe2, &[b"ICC_PROFILE\0\x01\x01", &icc[..]].concat());
    let webp = riff(&[vp8x((16, 16), 0x20), part(b"ICCP", &icc), vp8l((16, 16), &data, false)]);
    for (file, most) in [(&by_profile, 1), (&by_codes, 1), (&jpeg, 3), (&webp, 1)] {
        let got = open(file, DecodeOptions::default()).unwrap();
        assert!(near(pixel(&got.raster, 3, 3), &expected, most), "{:?}", pixel(&got.raster, 3, 3));
        assert_eq!(got.notes, []);
    }
    let clear = [200, 100, 50, 77].repeat(256);
    let rgba = all(&png(&clear, ColorType::Rgba, vec![iccp(&p3)]));
    assert!(near(&pixel(&rgba, 3, 3)[..3], &expected, 1));
    assert_eq!(pixel(&rgba, 3, 3)[3], 77);
}

#[test]
fn an_srgb_profile_changes_nothing() {
    let data = make::colors((16, 16));
    let file = png(&data, ColorType::Rgb, vec![iccp(&ColorProfile::new_srgb())]);
    assert_eq!(all(&file).data, data);
    let file = png(&data, ColorType::Rgb, vec![chunk(b"sRGB", &[0])]);
    assert_eq!(header::probe(&file).unwrap().profile, Some(Profile::Srgb));
    assert_eq!(all(&file).data, data);
}

#[test]
fn a_profile_that_cannot_be_used_is_a_note() {
    let data = make::colors((16, 16));
    let broken = chunk(b"iCCP", &[b"p\0\0", &fdeflate::compress_to_vec(&[7; 500])[..]].concat());
    let got = open(&png(&data, ColorType::Rgb, vec![broken]), DecodeOptions::default()).unwrap();
    assert_eq!((got.raster.data, got.notes), (data, vec![Note::ProfileIgnored]));
}

#[test]
fn a_gray_profile_with_another_curve_moves_the_levels() {
    let linear = ColorProfile::new_gray_with_gamma(1.0);
    let file = png(&[55; 256], ColorType::Grayscale, vec![iccp(&linear)]);
    let got = open(&file, DecodeOptions::default()).unwrap();
    // 55/255 of the light is 0.2157, which sRGB writes as 128.
    assert!(near(pixel(&got.raster, 1, 1), &[128], 2), "{:?} {:?}", got.raster.data[0], got.notes);
}
