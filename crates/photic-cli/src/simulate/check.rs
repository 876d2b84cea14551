//! `photic simulate --check`: compares `priced` with the optimum, which knows when the session
//! ends.

use std::io::Write;
use std::process::ExitCode;

use photic::Profile;
use photic::retention::{MaxLoad, Retention};
use photic::simulate::{Cache, Contender, Session, Setting, optimum, run as play};

use crate::style::{DIM, GREEN, RED};

/// A profile for each kind of cache, and its name in the table.
const KINDS: [(&str, &str); 3] = [
    ("anthropic", "Anthropic: at marks"),
    ("gpt-5.6@openai-responses", "GPT-5.6: at marks and the end"),
    ("gpt-5@openai-responses", "GPT-5: every prefix"),
];

/// Numbers of steps, and the largest distance from the optimum in percent.
const LENGTHS: [(usize, f64); 3] = [(20, 8.0), (100, 3.0), (500, 3.0)];

/// Tokens of an image: first, last, step.
const SIZES: (u64, u64, u64) = (400, 4700, 100);

/// Image sizes with a column of their own.
const SHOWN: [u64; 5] = [400, 800, 1300, 2500, 4700];

/// Runs the check.
pub(super) fn run() -> anyhow::Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "`priced` over the optimum, in percent, by tokens of an image; prompt 3,000, text 300 per step, 15 for a removed image\n"
    )?;
    write!(out, "{DIM}{:<30} {:>5}", "cache", "steps")?;
    for size in SHOWN {
        write!(out, " {size:>6}")?;
    }
    writeln!(out, " {:>12}{DIM:#}", "worst size")?;
    let mut kept = true;
    for (id, name) in KINDS {
        let Some(profile) = Profile::by_id(id) else { continue };
        for (steps, most) in LENGTHS {
            let over = |image: u64| over(&profile, steps, image);
            write!(out, "{name:<30} {steps:>5}")?;
            for size in SHOWN {
                write!(out, " {:>6.2}", over(size))?;
            }
            let sizes = (SIZES.0..=SIZES.1).step_by(SIZES.2 as usize);
            let (worst, size) = sizes
                .map(|size| (over(size), size))
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or_default();
            let color = if worst <= most { GREEN } else { RED };
            writeln!(out, " {color}{worst:>6.2}{color:#} {size:>5}")?;
            kept &= worst <= most;
        }
    }
    Ok(ExitCode::from(u8::from(!kept)))
}

/// The distance of `priced` from the optimum, in percent.
fn over(profile: &Profile, steps: usize, image: u64) -> f64 {
    let session = Session { steps, image, ..Session::default() };
    let cache = Cache::from(&profile.cache);
    let setting = Setting { session, floor: 3, cache, room: MaxLoad::default() };
    let priced = play(&setting, Contender::Photic(Retention::Priced));
    100.0 * (priced.cost() / optimum(&setting).cost() - 1.0)
}
