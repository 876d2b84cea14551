//! Integration tests of `photic-render` with real child processes and approved pictures.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot make its world has failed; what a bomb cost is printed"
)]
#![expect(
    clippy::assigning_clones,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "sources are written where they are used, to be read rather than to be fast"
)]

mod approved;
mod confined;
mod hostile;
mod hostile_html;
mod hostile_office;
mod hostile_paper;
mod html;
mod makers;
mod office;
mod paper;
mod pdf;
mod programs;
mod svg;
mod text;
mod worker;

use std::path::PathBuf;
use std::time::Duration;

use photic_render::{Worker, WorkerLimits};

/// A worker of this crate's own, with room to breathe on a busy machine.
fn worker() -> Worker {
    let limits = WorkerLimits { time: Duration::from_mins(1), ..WorkerLimits::default() };
    Worker { limits, ..Worker::new(example("render_worker"), Vec::new()) }
}

/// A program in `examples/`, which cargo builds with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test");
    let build = test.parent().and_then(|deps| deps.parent()).expect("a build folder");
    build.join("examples").join(name)
}

/// A file of the tests.
fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}
