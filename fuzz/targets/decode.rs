//! Any bytes and any wish: pixels of the promised size or a refusal, within small limits.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use photic_pixels::decode::{self, Wanted};
use photic_pixels::geometry::Rect;
use photic_pixels::{Limits, header};

const LIMITS: Limits = Limits {
    file_bytes: 1 << 20,
    pixels: 1 << 20,
    frames: 64,
    memory: 48 << 20,
    time: Duration::from_secs(2),
};

/// The fuzzer ends at any panic, before the library can catch one. That of a third-party decoder
/// is a corrupt file, as promised, and goes on; ours are findings.
fn let_decoders_panic() {
    let ours = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let theirs = info.location().is_some_and(|at| at.file().contains("/registry/src/"));
        if !theirs {
            ours(info);
        }
    }));
}

fuzz_target!(init: let_decoders_panic(), |bytes: &[u8]| {
    // The last bytes are the wish, so that seeds stay files.
    let wish: [u8; 8] = match bytes.last_chunk::<8>() {
        Some(wish) => *wish,
        None => return,
    };
    let Ok(header) = header::probe(bytes) else { return };
    let odd = wish[7] & 1 == 1;
    let wanted = Wanted {
        region: odd
            .then(|| Rect::new(wish[0].into(), wish[1].into(), wish[2].into(), wish[3].into())),
        at_most: (wish[7] & 2 == 2).then(|| (wish[4].into(), wish[5].into())),
        frame: u32::from(wish[6] & 3),
    };
    if let Ok(decoded) = decode::decode(bytes, &header, &LIMITS, wanted) {
        let raster = &decoded.raster;
        let length = raster.width as usize * raster.height as usize * raster.layout.samples();
        assert_eq!(raster.data.len(), length);
        let window = decoded.window;
        assert!(window.x >= 0.0 && window.x + window.width <= f64::from(raster.width) + 1e-6);
        assert!(window.y >= 0.0 && window.y + window.height <= f64::from(raster.height) + 1e-6);
        let opaque = decode::into_opaque(decoded.raster);
        assert_eq!(
            opaque.data.len(),
            opaque.width as usize * opaque.height as usize * opaque.layout.samples()
        );
    }
    let _ = decode::contact_sheet(bytes, &header, &LIMITS, 4);
});
