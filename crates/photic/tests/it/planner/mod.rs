//! The planner against a strict provider that never heard of it: every shipped profile, any
//! history, every limit from both sides, and what long sessions do to a cached prefix.
//!
//! `subject` is the only file that calls `photic`. Runs are the same every time; to look further
//! than CI does: `PROPTEST_CASES=100000 PROPTEST_RNG_SEED=$RANDOM cargo test -p photic --test it planner`.

mod choice;
mod cliffs;
mod frames;
mod histories;
mod outcome;
mod prefix;
mod random;
mod render;
mod rules;
mod subject;

use photic::Wire;
use proptest::test_runner::{Config, RngSeed};

/// The wires that histories are written in. The planner knows none of them; those that carry media
/// in yet other places are the business of the properties.
const WRITTEN: [Wire; 3] = [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic];

/// How many random histories are tried.
const CASES: u32 = 5000;

fn config(cases: u32) -> Config {
    let given = |name: &str| std::env::var_os(name).is_some();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !given("PROPTEST_CASES") {
        config.cases = cases;
    }
    if !given("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(0x9407_1C04);
    }
    if !given("PROPTEST_MAX_SHRINK_ITERS") {
        config.max_shrink_iters = 1500;
    }
    config
}
