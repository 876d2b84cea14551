//! Clear pixels: what was readable stays readable.

use photic_pixels::decode::{composite, into_opaque};
use photic_pixels::{Layout, Raster};

const SIDE: u32 = 60;

/// Bars of the given pixels on a clear ground with the given colour under it.
fn bars(inks: &[[u8; 4]], under: [u8; 4]) -> Raster {
    let data = (0..SIDE)
        .flat_map(|y| {
            (0..SIDE).flat_map(move |x| {
                let (bar, on) = ((y / 6) as usize, y % 6 < 2 && x % 10 < 8);
                if on { inks[bar % inks.len()] } else { under }
            })
        })
        .collect();
    Raster { width: SIDE, height: SIDE, layout: Layout::Rgba, data }
}

fn light([red, green, blue]: [u8; 3]) -> f64 {
    let linear = |sample: u8| (f64::from(sample) / 255.0).powf(2.2);
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/// The lowest contrast between an ink and the ground it ended on.
fn contrast(raster: &Raster) -> f64 {
    let opaque = composite(raster);
    assert_eq!((opaque.layout, opaque.data.len()), (Layout::Rgb, (SIDE * SIDE * 3) as usize));
    let ground = light([opaque.data[9 * 3], opaque.data[9 * 3 + 1], opaque.data[9 * 3 + 2]]);
    raster
        .data
        .chunks_exact(4)
        .zip(opaque.data.chunks_exact(3))
        .filter(|(pixel, _)| pixel[3] == 255)
        .map(|(_, pixel)| {
            let ink = light([pixel[0], pixel[1], pixel[2]]);
            (ink.max(ground) + 0.05) / (ink.min(ground) + 0.05)
        })
        .fold(f64::MAX, f64::min)
}

#[test]
fn dark_light_and_mixed_drawings_all_stay_readable() {
    let (black, white) = ([0, 0, 0, 255], [255, 255, 255, 255]);
    let (red, yellow) = ([190, 20, 20, 255], [255, 240, 90, 255]);
    for inks in [
        &[black][..],
        &[white],
        &[black, white],
        &[red],
        &[yellow],
        &[yellow, white],
        &[red, black],
    ] {
        for under in [[0, 0, 0, 0], [255, 255, 255, 0], [255, 0, 255, 0]] {
            let got = contrast(&bars(inks, under));
            assert!(got >= 3.0, "{inks:?} over {under:?}: {got}");
        }
    }
}

#[test]
fn what_lies_under_clear_pixels_never_shows() {
    let one = composite(&bars(&[[10, 20, 30, 255]], [255, 0, 255, 0]));
    let two = composite(&bars(&[[10, 20, 30, 255]], [0, 255, 0, 0]));
    assert_eq!(one, two);
}

#[test]
fn a_window_with_round_corners_gets_white_ones() {
    let mut raster = bars(&[[250, 250, 250, 255]], [250, 250, 250, 255]);
    raster.data[3] = 0;
    assert_eq!(composite(&raster).data[..3], [255, 255, 255]);
}

#[test]
fn opaque_pixels_are_untouched() {
    let raster = bars(&[[1, 2, 3, 255]], [200, 100, 50, 255]);
    let kept: Vec<u8> = raster.data.chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec()).collect();
    assert_eq!(composite(&raster).data, kept);
    let gray = Raster { width: 2, height: 1, layout: Layout::Gray, data: vec![1, 2] };
    assert_eq!(into_opaque(gray.clone()), gray);
}

#[test]
fn half_clear_pixels_are_mixed() {
    let data = [0, 0, 0, 128].repeat(400);
    let raster = Raster { width: 20, height: 20, layout: Layout::Rgba, data };
    assert_eq!(composite(&raster).data[..3], [127, 127, 127]);
}
