//! Counts instructions with callgrind: the result does not depend on what else the machine does.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// The instructions of one run of this program's work.
///
/// Starts this program twice under valgrind, with `--repeat 1 WORK` and `--repeat 3 WORK`, and takes
/// half the difference, so that what the program prepares does not count. Gives nothing, and says
/// so, if valgrind is not installed.
pub(crate) fn of_one(work: &str) -> Option<u64> {
    let (once, thrice) = (total(work, 1)?, total(work, 3)?);
    Some(thrice.saturating_sub(once) / 2)
}

/// How often to repeat which work, if this process was started by [`of_one`].
pub(crate) fn asked() -> Option<(usize, String)> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--repeat").skip(1);
    Some((arguments.next()?.parse().ok()?, arguments.next()?))
}

fn total(work: &str, times: usize) -> Option<u64> {
    let counted = std::env::temp_dir().join(format!("photic-bench-{}", std::process::id()));
    let mut option = OsString::from("--callgrind-out-file=");
    option.push(&counted);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]).arg(option);
    valgrind.arg(std::env::current_exe().ok()?).args(["--repeat", &times.to_string(), work]);
    let ended = valgrind.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    let text = std::fs::read_to_string(&counted).ok()?;
    let _ = std::fs::remove_file(&counted);
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: "))?;
    ended.success().then(|| line.trim().parse().ok())?
}
