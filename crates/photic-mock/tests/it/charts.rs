//! Charts are named exactly, whatever was done to their pixels.

use photic_mock::Chart;
use photic_mock::chart::{ChartReading, PALETTE, read_chart};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::resize::resize;
use photic_testkit::image;

fn sight(bytes: &[u8]) -> String {
    match read_chart(bytes).unwrap() {
        ChartReading::Chart(chart) => chart.words(),
        ChartReading::Code(code) => code.text().to_owned(),
        ChartReading::Other => "not a chart".to_owned(),
    }
}

#[test]
fn a_seed_gives_the_same_chart_for_ever() {
    assert_eq!(Chart::of(1), Chart::of(1));
    let digest = image::digest(&Chart::of(1).png().unwrap());
    assert_eq!(digest, image::digest(&Chart::of(1).png().unwrap()));
    let different: std::collections::BTreeSet<String> =
        (0..300).map(|seed| Chart::of(seed).words()).collect();
    assert!(different.len() > 290, "{}", different.len());
}

#[test]
fn every_type_and_size_is_read_back() {
    for seed in 0..24 {
        let chart = Chart::of(seed);
        let drawn = chart.draw(384, 288);
        for size in [(384, 288), (1568, 1176), (200, 150), (97, 73), (300, 288)] {
            let raster = resize(&drawn, size).unwrap();
            for accepts in ["image/png", "image/jpeg", "image/webp"] {
                let prefer = if accepts == "image/png" { Prefer::Lossless } else { Prefer::Photo };
                let quality = (accepts != "image/png").then_some(60);
                let options =
                    EncodeOptions { accepts: &[accepts], prefer, quality, ..Default::default() };
                let encoded = encode(&raster, &options).unwrap();
                assert_eq!(encoded.media_type, accepts);
                assert_eq!(sight(&encoded.bytes), chart.words(), "{seed} {size:?} {accepts}");
            }
        }
    }
}

#[test]
fn other_pictures_are_not_charts() {
    for bytes in [
        image::png(64, 48, [220, 30, 40]),
        image::png_noise(64, 48, 3),
        image::jpeg(),
        image::webp(),
        image::gif(),
    ] {
        assert_eq!(sight(&bytes), "not a chart");
    }
    assert!(read_chart(b"no picture").is_err());
}

#[test]
fn no_two_colors_are_near() {
    for (index, (name, color)) in PALETTE.iter().enumerate() {
        for (other, (other_name, other_color)) in PALETTE.iter().enumerate() {
            let part = |(a, b): (&u8, &u8)| (i32::from(*a) - i32::from(*b)).pow(2);
            let distance: i32 = color.iter().zip(other_color).map(part).sum();
            assert!(index == other || distance > 72 * 72, "{name} {other_name} {distance}");
        }
    }
}
