//! TIFF files by themselves, held to the memory that the limits allow.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_fuzz::pixels::{self, Counting};
use photic_pixels::header::Format;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(init: photic_fuzz::let_libraries_panic(), |bytes: &[u8]| {
    pixels::decoded(bytes, Some(Format::Tiff));
});
