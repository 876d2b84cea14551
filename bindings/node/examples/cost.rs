//! The processor time of `repair` in Rust, to compare that of JavaScript with: `cost FILE reused|fresh CALLS`.
//!
//! With `reused` every body is freed before the next one is written, so the allocator gives the same memory again. With
//! `fresh` they are kept, and the system has to give the memory of each.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "a tool of the suite")]

use photic_calls::{Options, Segments};

/// Returns the processor time of this thread in milliseconds.
fn spent() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux counts it");
    let nanoseconds = schedstat.split(' ').next().expect("the first of three numbers");
    nanoseconds.parse::<f64>().expect("a number") / 1e6
}

fn main() {
    let [path, way, calls] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        unreachable!("cost FILE reused|fresh CALLS");
    };
    let calls: u32 = calls.parse().expect("a number of calls");
    let body = std::fs::read(path).expect("the body is read");
    let options = Options::read("").expect("no options are fine");
    let mut kept = Vec::new();
    let begun = spent();
    for _ in 0..calls {
        let copied = |segments: &Segments<'_>| segments.to_vec();
        let repaired = photic_calls::repair(&body, &options, &[], copied);
        kept.push(repaired.expect("a repaired body").body.expect("a changed body"));
        if way == "reused" {
            kept.clear();
        }
    }
    println!("{}", (spent() - begun) / f64::from(calls));
}
