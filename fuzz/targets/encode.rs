//! Any pixels and any wish: a file of the size that was given, under its cap.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster, header};

fuzz_target!(|bytes: &[u8]| {
    let [width, height, layout, prefer, quality, accepts, cap, pixels @ ..] = bytes else { return };
    let (width, height) = (u32::from(*width) + 1, u32::from(*height) + 1);
    let layout = [Layout::Gray, Layout::Rgb, Layout::Rgba][usize::from(layout % 3)];
    let length = width as usize * height as usize * layout.samples();
    let data: Vec<u8> = match pixels {
        [] => vec![0; length],
        pixels => pixels.iter().copied().cycle().take(length).collect(),
    };
    let raster = Raster { width, height, layout, data };
    let all: Vec<&str> = ["image/png", "image/jpeg", "image/webp"]
        .into_iter()
        .enumerate()
        .filter_map(|(at, name)| (accepts >> at & 1 == 1).then_some(name))
        .collect();
    let options = EncodeOptions {
        accepts: &all,
        cap: (accepts & 8 == 8).then(|| usize::from(*cap) * 256),
        prefer: [Prefer::Auto, Prefer::Lossless, Prefer::Photo][usize::from(prefer % 3)],
        quality: (accepts & 16 == 16).then(|| quality % 100 + 1),
    };
    if let Ok(encoded) = encode(&raster, &options) {
        assert!(all.contains(&encoded.media_type));
        assert!(options.cap.is_none_or(|cap| encoded.bytes.len() <= cap));
        let header = header::probe(&encoded.bytes).unwrap();
        assert_eq!((header.width, header.height), (width, height));
    }
});
