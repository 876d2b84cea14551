//! Any bytes: a header or a refusal, and the header makes sense.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_pixels::header;

fuzz_target!(|bytes: &[u8]| {
    match header::probe(bytes) {
        Ok(header) => {
            assert!(header.width > 0 && header.height > 0);
            assert!((1..=8).contains(&header.orientation));
            let stored = (header.stored_width, header.stored_height);
            let upright = (header.width, header.height);
            let turned = (header.height, header.width);
            assert_eq!(stored, if header.turned() { turned } else { upright });
            assert!(header.frames.least() > 0);
        }
        Err(refusal) => assert!(!refusal.says.is_empty() && !refusal.hint.is_empty()),
    }
});
