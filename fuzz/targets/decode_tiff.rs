//! TIFF files by themselves. Memory is not held to the limits here: a JPEG inside a TIFF whose strips
//! claim to be very long takes four times what is allowed (`fuzz/corpus/decode_tiff/long-strip`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_fuzz::pixels;
use photic_pixels::header::Format;

fuzz_target!(init: photic_fuzz::let_libraries_panic(), |bytes: &[u8]| {
    pixels::decoded(bytes, Some(Format::Tiff));
});
