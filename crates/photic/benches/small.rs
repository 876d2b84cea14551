//! What repairing an ordinary turn costs: 2 KB of words, nothing to repair, stage by stage.
//!
//! `cargo bench -p photic --bench small`. CPU time, medians of interleaved rounds.
#![expect(clippy::print_stdout, reason = "a program for people")]

mod clock;

use std::hint::black_box;

use clock::{cpu_nanos, median};
use photic::{Policy, Wire};

const ROUNDS: usize = 25;
const TIMES: u32 = 2_000;

fn main() {
    let body = body();
    let profile = photic::profile::resolve(Wire::OpenAiChat, Some("gpt-4o"), None);
    let policy = Policy::default();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    println!("{} bytes, CPU ns each, median of {ROUNDS}", body.len());
    stage("lift", || drop(black_box(photic::lift(Wire::OpenAiChat, black_box(&body)))));
    stage("survey", || drop(black_box(photic::survey(black_box(&transcript)))));
    stage("survey and plan", || {
        drop(black_box(photic::plan(photic::survey(&transcript), &profile, &policy)));
    });
    stage("lower", || drop(black_box(photic::lower(&transcript, black_box(&plan)))));
}

fn stage(name: &str, work: impl Fn()) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = cpu_nanos();
        (0..TIMES).for_each(|_| work());
        times.push(cpu_nanos() - start);
    }
    println!("{name:16} {:8.0}", median(&mut times) / f64::from(TIMES));
}

fn body() -> Vec<u8> {
    let words = "Look at the page and say what is wrong with it. ".repeat(40);
    format!("{{\"model\":\"gpt-4o\",\"messages\":[{{\"role\":\"user\",\"content\":\"{words}\"}}]}}")
        .into_bytes()
}
