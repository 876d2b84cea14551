//! Text of known height is measured, told from pictures, and gets a zoom that makes it
//! readable.

#![expect(clippy::expect_used, reason = "a test that cannot scale its data has failed")]

use photic::profile::shipped;
use photic_pixels::fit::{Fidelity, fit};
use photic_pixels::geometry::Rect;
use photic_pixels::legibility::{MIN_READABLE_X_HEIGHT, SmallestText, smallest_text};
use photic_pixels::resize::resize;
use photic_pixels::{Layout, Raster};
use proptest::prelude::*;

use crate::font::{X_HEIGHT, page, paper, write};

const DARK_ON_LIGHT: (u8, u8) = (245, 20);
const LIGHT_ON_DARK: (u8, u8) = (24, 220);
const GRAY_ON_WHITE: (u8, u8) = (255, 130);

/// Antialiased text of any height: a large page, scaled down.
fn smooth(x_height: f64, colors: (u8, u8), seed: u64) -> Raster {
    let large = page((2400, 700), 6, colors, seed);
    let by = x_height / f64::from(6 * X_HEIGHT);
    let side = |side: u32| (f64::from(side) * by).round() as u32;
    resize(&large, (side(large.width), side(large.height))).expect("scales")
}

fn measured(raster: &Raster) -> Option<f64> {
    smallest_text(raster).map(|text| text.x_height)
}

#[test]
fn crisp_text_is_measured_to_a_fifth() {
    for colors in [DARK_ON_LIGHT, LIGHT_ON_DARK, GRAY_ON_WHITE] {
        for times in 1..=6 {
            let raster = page((1600, 900), times, colors, 7);
            let height = measured(&raster).expect("text");
            let truth = f64::from(X_HEIGHT * times);
            // A row of this font is a fifth of an `x`, and the topmost has few strokes.
            let off = (height - truth).abs();
            assert!(off <= f64::from(times), "{height} for {truth}, {colors:?}");
        }
    }
}

#[test]
fn smooth_text_is_measured_closely() {
    for colors in [DARK_ON_LIGHT, LIGHT_ON_DARK, GRAY_ON_WHITE] {
        for x_height in [4.0, 5.0, 6.0, 7.5, 9.0, 12.0, 16.0, 20.0] {
            let height = measured(&smooth(x_height, colors, 3)).expect("text");
            let off = (height - x_height).abs();
            assert!(off <= 1.0 + x_height * 0.2, "{height} for {x_height}, {colors:?}");
        }
    }
}

#[test]
fn the_smallest_of_several_sizes_decides() {
    let mut sheet = page((1600, 900), 4, DARK_ON_LIGHT, 1);
    let small = page((1600, 140), 2, DARK_ON_LIGHT, 2);
    let start = (sheet.height - small.height) * sheet.width;
    sheet.data[start as usize..].copy_from_slice(&small.data);
    let text = smallest_text(&sheet).expect("text");
    assert!((text.x_height - 10.0).abs() <= 1.0, "{text:?}");
    assert!(text.at.y >= 760, "found at {text:?}");
}

#[test]
fn pictures_without_lines_of_text_stay_silent() {
    let size = (1200, 800);
    let draw = |level: fn(u32, u32) -> u32| {
        let pixels = (0..size.1).flat_map(|y| (0..size.0).map(move |x| level(x, y) as u8));
        Raster { width: size.0, height: size.1, layout: Layout::Gray, data: pixels.collect() }
    };
    let noise = |x: u32, y: u32| {
        let mut hash = (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77)).wrapping_add(1);
        hash ^= hash >> 15;
        hash = hash.wrapping_mul(0x2C1B_3C6D);
        (hash ^ (hash >> 13)) & 255
    };
    let pictures = [
        ("flat", draw(|_, _| 200)),
        ("gradient", draw(|x, y| (x + y) / 8)),
        ("noise", draw(noise)),
        ("columns", draw(|x, _| (x / 4 % 2) * 255)),
        ("grid", draw(|x, y| if x % 40 < 2 || y % 40 < 2 { 0 } else { 255 })),
        ("rows", draw(|_, y| (y / 7 % 2) * 255)),
    ];
    for (name, raster) in &pictures {
        assert_eq!(smallest_text(raster), None, "{name}");
    }
    // Averaged noise has the spectrum of foliage and gravel.
    let soft = resize(&pictures[2].1, (600, 400)).expect("scales");
    assert_eq!(smallest_text(&soft), None);
    // Two words are not text one could miss.
    let mut label = paper(size, 250);
    write(&mut label, "export", (600, 400), 2, 10);
    assert_eq!(smallest_text(&label), None);
}

/// Large enough, leaves on leaves have rows that look like a line here and there.
#[test]
fn leaves_are_not_text() {
    let (width, height) = (1990, 1500);
    let mut leaves = paper((width, height), 128);
    let mut state = 7_u64;
    let mut random = |below: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    for _ in 0..16_000 {
        let (x, y) = (random(width), random(height));
        let (right, bottom) = (x + 2 + random(10), y + 2 + random(10));
        let level = random(256) as u8;
        for row in y..bottom.min(height) {
            let start = (row * width) as usize;
            leaves.data[start + x as usize..start + right.min(width) as usize].fill(level);
        }
    }
    assert_eq!(smallest_text(&leaves), None);
}

#[test]
fn odd_sizes_are_no_trouble() {
    for size in [(1, 1), (63, 900), (64, 1), (65, 40), (128, 2), (3, 3000)] {
        assert_eq!(smallest_text(&paper(size, 255)), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Edge case 96: the same page, larger, never measures smaller.
    #[test]
    fn the_estimate_is_monotone_in_scale(
        x_height in 4.0..16.0,
        by in 1.2..1.8,
        seed in 1..1000_u64,
        light in any::<bool>(),
    ) {
        let colors = if light { LIGHT_ON_DARK } else { DARK_ON_LIGHT };
        let small = measured(&smooth(x_height, colors, seed)).expect("text");
        let large = measured(&smooth(x_height * by, colors, seed)).expect("text");
        prop_assert!(small <= large, "{small} at {x_height}, {large} at {}", x_height * by);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The legibility that a view predicts for its text only grows with the view.
    #[test]
    fn the_prediction_is_monotone_in_scale(height in 3.0..48.0, a in 0.05..1.0, b in 0.05..1.0) {
        let text = SmallestText { x_height: height, at: Rect::new(10, 10, 64, 8) };
        let (small, large) = if a < b { (a, b) } else { (b, a) };
        prop_assert!(text.scaled(small).x_height <= text.scaled(large).x_height);
    }

    /// The zoom that a warning names does what it says, for every profile.
    #[test]
    fn the_named_region_makes_the_text_readable(
        source in (300..9000_u32, 300..9000_u32),
        height in 3.0..24.0,
        at in (0.0..1.0, 0.0..1.0),
        which in any::<prop::sample::Index>(),
    ) {
        let profile = which.get(shipped());
        let target = fit(source, profile, Fidelity::Read);
        let place = |share: f64, side: u32| (share * f64::from(side - 70)) as u32;
        let text = SmallestText {
            x_height: height,
            at: Rect::new(place(at.0, source.0), place(at.1, source.1), 64, height as u32),
        };
        let region = text.readable_region(source, &target);
        prop_assert_eq!(region.within(source), Ok(region));
        let center = (text.at.x + 32, text.at.y + text.at.height / 2);
        prop_assert!(region.contains(center.0, center.1), "{region:?} lacks {text:?}");
        let zoomed = fit(region.size(), profile, Fidelity::Read);
        let scale = f64::from(zoomed.content.0.max(zoomed.content.1))
            / f64::from(region.width.max(region.height));
        // At native resolution there is nothing left to gain.
        let shown = height * scale;
        prop_assert!(shown >= MIN_READABLE_X_HEIGHT * 0.98 || scale >= 0.999, "{shown} at {scale} {region:?}");
    }
}
