//! Any bytes and any wish: pixels of the promised size or a refusal, within small limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_fuzz::pixels;

fuzz_target!(init: photic_fuzz::let_libraries_panic(), |bytes: &[u8]| {
    pixels::decoded(bytes, None);
});
