//! Measures the cost of a child process: draws an empty drawing in a worker and in this process,
//! in turns.
//!
//! `cargo run --release -p photic-render --example spawn_cost [rounds]`; the worker is the example
//! `render_worker` next to it, so build all examples first.

use std::io::Write;
use std::time::{Duration, Instant};

use photic_render::{Kind, Refusal, Request, Worker, draw};

const EMPTY: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg' width='512' height='512'/>";

fn main() -> std::io::Result<()> {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let program = std::env::current_exe()?.with_file_name("render_worker");
    let worker = Worker::new(program, Vec::new());
    let request = Request::new(EMPTY, Kind::Svg);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let refused = |refusal: Refusal| std::io::Error::other(refusal.says);
    let children = children_seconds();
    for _ in 0..rounds {
        let begin = Instant::now();
        worker.draw(&request).map_err(refused)?;
        there.push(begin.elapsed());
        let begin = Instant::now();
        draw(&request).map_err(refused)?;
        here.push(begin.elapsed());
    }
    let child = (children_seconds() - children) * 1e3 / f64::from(rounds);
    let (here, there) = (median(here), median(there));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{rounds} rounds of an empty drawing of 512x512 pixels, in one run")?;
    writeln!(out, "in this process: median {here:.1?}")?;
    writeln!(out, "in a child:      median {there:.1?}, of the processor {child:.1} ms on average")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Processor time of all children that ended, in seconds; zero where there is no `/proc`.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
