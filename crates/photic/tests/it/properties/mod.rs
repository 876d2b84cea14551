//! Properties: what must hold for every conversation, on every pair of wires, under any profile.
//!
//! A sketch (`sketch`) is drawn by proptest, built into a neutral conversation (`talk`), written as
//! a body of a wire (`render`) and lowered. What came out is judged by the strict provider of the
//! testkit and by what the conversation itself says; photic is never asked about its own work.
//!
//! Runs are the same every time. To look further than CI does:
//! `PROPTEST_CASES=100000 PROPTEST_RNG_SEED=$RANDOM cargo test -p photic --test it properties`.

mod accepted;
mod clean;
mod digests;
mod exact;
mod exam;
mod guests;
mod late;
mod lost;
mod no_harm;
mod owners;
mod pictures;
mod prefix;
mod profiles;
mod render;
mod sayable;
mod shapes;
mod sight;
mod sketch;
mod talk;
mod trust;

use proptest::test_runner::{Config, RngSeed};

/// How many cases a property is tried on.
const CASES: u32 = 2000;

/// The settings of every property; the variables of proptest win over them.
fn config() -> Config {
    let given = |name: &str| std::env::var_os(name).is_some();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !given("PROPTEST_CASES") {
        config.cases = CASES;
    }
    if !given("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(0x9407_1C00);
    }
    if !given("PROPTEST_MAX_SHRINK_ITERS") {
        config.max_shrink_iters = 4096;
    }
    config
}
