//! The choice of format, the caps, and that the bytes never change.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use photic_pixels::encode::{
    Content, EncodeOptions, Encoded, MIN_EDGE, Prefer, classify, encode, raw_cap,
};
use photic_pixels::{Layout, Raster, Refusal, RefusalCode};
use proptest::prelude::*;

const ALL: &[&str] = &["image/png", "image/jpeg", "image/webp"];
const PLAIN: &[&str] = &["image/png", "image/jpeg"];

/// Small and repeatable, not random: a 64-bit mixer of its argument.
fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
    (n ^ (n >> 27)).wrapping_mul(0x81DA_DEF4_BC2D_D44D) >> 33
}

/// Smooth shading with grain: what a sensor gives.
fn photo(width: u32, height: u32) -> Raster {
    let data = (0..u64::from(width) * u64::from(height) * 3)
        .map(|i| {
            let (x, y) = (i / 3 % u64::from(width), i / 3 / u64::from(width));
            let wave = (x as f64 / 37.0).sin() * 40.0 + (y as f64 / 53.0).cos() * 50.0;
            let fine = ((x as f64 / 3.1).sin() + (y as f64 / 2.3).sin()) * 9.0;
            (120.0 + wave + fine + (mix(i) % 13) as f64 + (i % 3) as f64 * 8.0) as u8
        })
        .collect();
    Raster { width, height, layout: Layout::Rgb, data }
}

/// Lines of glyph-like strokes on flat ground, in so many colors.
fn screen(width: u32, height: u32, colors: u64) -> Raster {
    let mut data = Vec::new();
    for y in 0..u64::from(height) {
        for x in 0..u64::from(width) {
            let (line, cell) = (y / 16, x / 8);
            let stroke = mix(line * 7919 + cell * 31 + (x % 8 / 2) * 3 + y % 16 / 3);
            let ink = y % 16 > 4 && stroke.is_multiple_of(3);
            let tone = mix(line * 131 + cell) % colors;
            let pixel = [tone as u8, (tone / 7) as u8, (tone / 13) as u8];
            data.extend_from_slice(&if ink && cell % 5 != 0 { pixel } else { [250, 250, 251] });
        }
    }
    Raster { width, height, layout: Layout::Rgb, data }
}

fn decoded(encoded: &Encoded) -> image::DynamicImage {
    let format = image::guess_format(&encoded.bytes).unwrap();
    assert_eq!(format.to_mime_type(), encoded.media_type, "the label is the sniffed type");
    image::load_from_memory(&encoded.bytes).unwrap()
}

fn with<'a>(accepts: &'a [&'a str], cap: Option<usize>) -> EncodeOptions<'a> {
    EncodeOptions { accepts, cap, ..EncodeOptions::default() }
}

#[test]
fn screens_stay_lossless_and_photographs_become_jpeg() {
    for (raster, content, media_type) in [
        (screen(640, 480, 1000), Content::Screen, "image/png"),
        (screen(640, 480, 3), Content::Screen, "image/png"),
        (photo(640, 480), Content::Photo, "image/jpeg"),
    ] {
        assert_eq!(classify(&raster), content);
        for accepts in [PLAIN, ALL] {
            let encoded = encode(&raster, &with(accepts, None)).unwrap();
            assert_eq!(encoded.media_type, media_type);
            assert_eq!(encoded.lossless, content == Content::Screen);
            let image = decoded(&encoded);
            assert_eq!((image.width(), image.height()), (640, 480));
            if encoded.lossless {
                assert_eq!(image.to_rgb8().into_raw(), raster.data);
            }
        }
    }
}

#[test]
fn few_colors_travel_as_a_palette_at_every_depth() {
    for (colors, depth) in [(1, 1), (3, 2), (12, 4), (200, 8)] {
        let raster = screen(333, 70, colors);
        let encoded = encode(&raster, &EncodeOptions::default()).unwrap();
        assert_eq!((encoded.bytes[24], encoded.bytes[25]), (depth, 3), "{colors} colors");
        assert_eq!(decoded(&encoded).to_rgb8().into_raw(), raster.data);
    }
}

#[test]
fn clear_pixels_survive_where_they_can_and_stay_readable_where_not() {
    for ink in [0_u8, 255] {
        let data: Vec<u8> = (0..64 * 64)
            .flat_map(|i| if i / 8 % 2 == 0 { [ink, ink, ink, 255] } else { [128, 0, 0, 0] })
            .collect();
        let raster = Raster { width: 64, height: 64, layout: Layout::Rgba, data };
        let png = encode(&raster, &EncodeOptions::default()).unwrap();
        assert_eq!(decoded(&png).to_rgba8().into_raw(), raster.data);
        let jpeg = encode(&raster, &with(&["image/jpeg"], None)).unwrap();
        let gray = decoded(&jpeg).to_luma8();
        assert!(gray.get_pixel(2, 0)[0].abs_diff(gray.get_pixel(11, 0)[0]) > 200, "ink {ink}");
    }
}

#[test]
fn gray_and_opaque_alpha_lose_nothing() {
    let gray: Vec<u8> = screen(120, 90, 900).data.chunks(3).map(|p| p[0]).collect();
    let raster = Raster { width: 120, height: 90, layout: Layout::Gray, data: gray };
    for accepts in [PLAIN, &["image/webp"]] {
        let options = EncodeOptions { prefer: Prefer::Lossless, ..with(accepts, None) };
        let encoded = encode(&raster, &options).unwrap();
        assert_eq!(decoded(&encoded).to_luma8().into_raw(), raster.data);
    }
    let rgb = screen(120, 90, 900);
    let data = rgb.data.chunks(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
    let rgba = Raster { layout: Layout::Rgba, data, ..rgb.clone() };
    let options = EncodeOptions::default();
    assert_eq!(encode(&rgba, &options).unwrap(), encode(&rgb, &options).unwrap());
}

#[test]
fn caps_hold_to_the_byte() {
    let mut lossy = 0;
    for raster in [photo(900, 700), screen(900, 700, 1000)] {
        for accepts in [PLAIN, ALL, &["image/jpeg"], &["image/webp"], &["image/png"]] {
            for cap in [30_000, 60_000, 120_000, 250_000, 1_000_000] {
                match encode(&raster, &with(accepts, Some(cap))) {
                    Ok(encoded) => {
                        assert!(encoded.bytes.len() <= cap, "{encoded:?} over {cap}");
                        assert!(encoded.quality.is_none_or(|quality| quality >= 40));
                        lossy += u32::from(!encoded.lossless);
                        decoded(&encoded);
                    }
                    Err(no_fit) => {
                        assert_eq!(no_fit.refusal.code, RefusalCode::CannotFit);
                        assert!(no_fit.scale.is_none_or(|scale| scale < 1.0));
                    }
                }
            }
        }
    }
    assert!(lossy >= 15, "only {lossy} were squeezed");
}

#[test]
fn a_cap_on_base64_counts_the_padding() {
    for base64 in 0..400_usize {
        let raw = raw_cap(base64);
        assert!(raw.div_ceil(3) * 4 <= base64);
        assert!((raw + 1).div_ceil(3) * 4 > base64, "one byte more would not fit {base64}");
    }
    assert_eq!(raw_cap(5 << 20), 3_932_160);
}

#[test]
fn the_scale_of_a_refusal_fits_or_there_is_none() {
    let cap = 20_000;
    let no_fit = encode(&photo(1200, 900), &with(PLAIN, Some(cap))).unwrap_err();
    let scale = no_fit.scale.expect("there is room for a smaller one");
    let (width, height) = ((1200.0 * scale) as u32, (900.0 * scale) as u32);
    assert!(height >= MIN_EDGE);
    let whole = image::RgbImage::from_raw(1200, 900, photo(1200, 900).data).unwrap();
    let kind = image::imageops::FilterType::Triangle;
    let data = image::imageops::resize(&whole, width, height, kind).into_raw();
    let smaller = Raster { width, height, layout: Layout::Rgb, data };
    assert!(encode(&smaller, &with(PLAIN, Some(cap))).unwrap().bytes.len() <= cap);

    let no_fit = encode(&photo(1200, 120), &with(PLAIN, Some(700))).unwrap_err();
    assert_eq!(no_fit.scale, None, "an edge would fall under 100");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let raster = photo(8, 8);
    let refusal = |raster: &Raster, accepts: &[&str]| -> RefusalCode {
        Refusal::from(encode(raster, &with(accepts, None)).unwrap_err()).code
    };
    assert_eq!(refusal(&raster, &["image/gif"]), RefusalCode::CannotFit);
    assert_eq!(refusal(&Raster { width: 0, ..raster.clone() }, PLAIN), RefusalCode::Empty);
    assert_eq!(refusal(&Raster { width: 9, ..raster.clone() }, PLAIN), RefusalCode::Corrupt);
    let long = Raster { width: 20_000, height: 1, layout: Layout::Gray, data: vec![0; 20_000] };
    assert_eq!(refusal(&long, &["image/webp"]), RefusalCode::CannotFit);
}

#[test]
fn the_bytes_are_the_same_on_any_thread() {
    let rasters = [photo(700, 500), screen(700, 500, 1000)];
    let every = || -> Vec<Encoded> {
        let mut every = Vec::new();
        for raster in &rasters {
            for (accepts, cap) in [(PLAIN, None), (ALL, None), (PLAIN, Some(60_000))] {
                every.extend(encode(raster, &with(accepts, cap)));
            }
            every.extend(encode(raster, &with(&["image/webp"], Some(50_000))));
        }
        every
    };
    let first = every();
    assert!(first.len() >= 6);
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(every)).collect();
        for other in others {
            assert_eq!(other.join().unwrap(), first);
        }
    });
}

/// The depth and the color type of a PNG.
fn kind(encoded: &Encoded) -> (u8, u8) {
    (encoded.bytes[24], encoded.bytes[25])
}

#[test]
fn gray_is_written_as_gray_at_every_depth() {
    let lossless = EncodeOptions { prefer: Prefer::Lossless, ..EncodeOptions::default() };
    for (step, levels, kind_expected) in
        [(255, 2, (1, 0)), (85, 4, (2, 0)), (17, 16, (4, 0)), (1, 256, (8, 0)), (5, 16, (4, 3))]
    {
        let gray: Vec<u8> = (0..50 * 40).map(|i| (mix(i) % levels * step) as u8).collect();
        let rgb: Vec<u8> = gray.iter().flat_map(|&level| [level; 3]).collect();
        for (layout, data) in [(Layout::Gray, &gray), (Layout::Rgb, &rgb)] {
            let raster = Raster { width: 50, height: 40, layout, data: data.clone() };
            let encoded = encode(&raster, &lossless).unwrap();
            assert_eq!(kind(&encoded), kind_expected, "{levels} levels in steps of {step}");
            assert_eq!(decoded(&encoded).to_luma8().into_raw(), gray);
        }
    }
}

/// Pictures of a number of colors, gray or not, opaque or not.
fn pictures() -> impl Strategy<Value = Raster> {
    let layout = prop_oneof![Just(Layout::Gray), Just(Layout::Rgb), Just(Layout::Rgba)];
    let colors = prop_oneof![1_u64..=20, 250_u64..=260, Just(1 << 24)];
    let palette = prop_oneof![Just(0_u64), Just(1), Just(17)];
    (1_u32..90, 1_u32..60, layout, colors, palette, any::<bool>(), any::<u64>()).prop_map(
        |(width, height, layout, colors, gray_step, opaque, seed)| {
            let pixel = |i: u64| {
                let color = mix(seed ^ (mix(seed ^ i) % colors));
                let level = (color % 256 / gray_step.max(1) * gray_step.max(1)) as u8;
                let [r, g, b, alpha, ..] = color.to_le_bytes();
                let [r, g, b] = if gray_step == 0 { [r, g, b] } else { [level; 3] };
                [r, g, b, if opaque { 255 } else { alpha % 3 * 127 }]
            };
            let pixels = (0..u64::from(width) * u64::from(height)).map(pixel);
            let data = pixels.flat_map(|rgba| match layout {
                Layout::Gray => rgba[..1].to_vec(),
                Layout::Rgb => rgba[..3].to_vec(),
                Layout::Rgba => rgba.to_vec(),
            });
            Raster { width, height, layout, data: data.collect() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn a_png_decodes_to_the_pixels_that_were_encoded(raster in pictures()) {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..EncodeOptions::default()
        };
        let image = decoded(&encode(&raster, &options).unwrap());
        prop_assert_eq!((image.width(), image.height()), (raster.width, raster.height));
        let same = match raster.layout {
            Layout::Gray => image.to_luma8().into_raw(),
            Layout::Rgb => image.to_rgb8().into_raw(),
            Layout::Rgba => image.to_rgba8().into_raw(),
        };
        prop_assert_eq!(same, raster.data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_pixels_encode_within_any_cap(
        width in 1_u32..70,
        height in 1_u32..70,
        layout in prop_oneof![Just(Layout::Gray), Just(Layout::Rgb), Just(Layout::Rgba)],
        seed: u64,
        step in 1_u64..64,
        cap in 80_usize..20_000,
    ) {
        let len = u64::from(width) * u64::from(height) * layout.samples() as u64;
        let data = (0..len).map(|i| mix(seed ^ (i / step)) as u8).collect();
        let raster = Raster { width, height, layout, data };
        if let Ok(encoded) = encode(&raster, &with(ALL, Some(cap))) {
            prop_assert!(encoded.bytes.len() <= cap);
            let image = decoded(&encoded);
            prop_assert_eq!((image.width(), image.height()), (width, height));
            if encoded.lossless && layout == Layout::Rgba {
                prop_assert_eq!(image.to_rgba8().into_raw(), raster.data);
            }
        }
    }
}
