//! Any source as PDF: a page within its bounds, or a refusal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_fuzz::drawn;
use photic_render::Kind;

fuzz_target!(init: photic_fuzz::let_libraries_panic(), |bytes: &[u8]| drawn(bytes, &[Kind::Pdf]));
