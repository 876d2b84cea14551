//! Any source as Markdown, a table, JSON and a notebook: a page within its bounds, or a refusal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photic_fuzz::drawn;
use photic_render::Kind;

const KINDS: [Kind; 4] = [Kind::Markdown, Kind::Csv, Kind::Json, Kind::Notebook];

fuzz_target!(init: photic_fuzz::let_libraries_panic(), |bytes: &[u8]| drawn(bytes, &KINDS));
