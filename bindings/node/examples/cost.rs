//! The time of `repair` in Rust, to compare that of JavaScript with: `cost FILE`.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "a tool of the suite")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use photic_calls::{Options, Segments};

/// The number of calls, of which the fastest counts.
const CALLS: u32 = 15;

fn main() {
    let path = std::env::args().nth(1).expect("cost FILE");
    let body = std::fs::read(path).expect("the body is read");
    let options = Options::read("").expect("no options are fine");
    let mut best = Duration::MAX;
    for _ in 0..CALLS {
        let begun = Instant::now();
        let copied = |segments: &Segments<'_>| segments.to_vec();
        black_box(photic_calls::repair(&body, &options, &[], copied).expect("a repaired body"));
        best = best.min(begun.elapsed());
    }
    println!("{}", best.as_secs_f64() * 1000.0);
}
