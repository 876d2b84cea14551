//! What decoders must hold to, whatever the bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use photic_pixels::decode::{self, DecodeOptions};
use photic_pixels::geometry::Rect;
use photic_pixels::header::Format;
use photic_pixels::{DecodeLimits, header};

const LIMITS: DecodeLimits<'static> = DecodeLimits {
    file_bytes: 1 << 20,
    pixels: 1 << 20,
    frames: 64,
    memory: 48 << 20,
    time: Duration::from_secs(2),
    meter: None,
};

/// What a decode may hold beside what it was allowed: the turned copy, and the pixels that it gives.
const SLACK: usize = 16 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts.
pub struct Counting;

// SAFETY: all is the system's; only numbers are kept.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: as above. Zeroed by the system, so that pages nobody touches cost nothing.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Decodes what the last bytes wish for, if it is of the format that is wanted.
///
/// Panics if the pixels are not of the size that was promised, or, where [`Counting`] is the
/// allocator, if decoding held more memory than its limits allow.
pub fn decoded(bytes: &[u8], only: Option<Format>) {
    // The last bytes are the wish, so that seeds stay files.
    let Some(wish) = bytes.last_chunk::<8>().copied() else { return };
    let Ok(header) = header::probe(bytes) else { return };
    if only.is_some_and(|only| only != header.format) {
        return;
    }
    let wanted = DecodeOptions {
        region: (wish[7] & 1 == 1)
            .then(|| Rect::new(wish[0].into(), wish[1].into(), wish[2].into(), wish[3].into())),
        at_most: (wish[7] & 2 == 2).then(|| (wish[4].into(), wish[5].into())),
        frame: u32::from(wish[6] & 3),
    };
    // Few pixels: only a part may be decoded.
    let pixels = if wish[7] & 4 == 4 { 1 << 12 } else { LIMITS.pixels };
    let limits = DecodeLimits { pixels, ..LIMITS };
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = decode::decode(bytes, &header, &limits, wanted);
    let held = PEAK.load(Relaxed).saturating_sub(before);
    assert!(held <= LIMITS.memory as usize + SLACK, "{held} bytes held");
    if let Ok(decoded) = result {
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
}
