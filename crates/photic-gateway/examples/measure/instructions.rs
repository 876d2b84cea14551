//! Counts the instructions of a request with callgrind. The count does not depend on the kernel, the
//! machine, or its load.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::bodies::{self, Api, Repeated};
use crate::gateway::Kind;
use crate::load::repeat;
use crate::proxy::Proxy;
use crate::{Outcome, upstream};

/// A request that is counted.
struct Case {
    name: String,
    request: Repeated,
    /// Requests of the shorter run, which includes start and warm-up, and how many more the longer
    /// one has.
    times: (u32, u32),
    /// The highest ratio to the pipe that is claimed.
    claim: f64,
    /// The highest ratio to the pipe that passes: measured, with a small margin. Rows without are only
    /// printed.
    bound: Option<f64>,
}

/// Prints the instructions of the baselines and of the gateway for one request each. Returns the
/// requests that took more than their bound.
pub(crate) fn table() -> Outcome<Vec<String>> {
    let upstream = upstream::url(upstream::start(1)?);
    println!("\n| instructions | pipe | store | gateway | × pipe | × store | claimed | bound |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut broken = Vec::new();
    for Case { name, mut request, times, claim, bound } in cases() {
        let counts = Kind::ALL.map(|kind| of_one(&kind.command(&upstream)?, &mut request, times));
        let [pipe, store, gateway] = counts;
        let (pipe, store, gateway) = (pipe?, store?, gateway?);
        let thousand = |count: f64| format!("{:.1} thousand", count / 1e3);
        println!(
            "| {name} | {} | {} | {} | {:.2}× | {:.2}× | at most {claim}× | {} |",
            thousand(pipe),
            thousand(store),
            thousand(gateway),
            gateway / pipe,
            gateway / store,
            bound.map(|most| format!("{most}×")).unwrap_or_default()
        );
        if bound.is_some_and(|most| gateway / pipe > most) {
            broken.push(format!("instructions, {name}"));
        }
    }
    Ok(broken)
}

fn cases() -> Vec<Case> {
    let words = Repeated::chat(&bodies::words("gpt-4o", false));
    let mut all = vec![Case {
        name: "2 KB".to_owned(),
        request: words,
        times: (200, 1000),
        claim: 1.45,
        // 2.75 of a pipe with the allocator of the system, which took 2 % more.
        bound: Some(2.81),
    }];
    for (messages, times) in [(40, (50, 200)), (200, (20, 60)), (2_000, (3, 12))] {
        for (what, varied, claim) in
            [("another session", 0, 10.0), ("the session goes on", messages - 1, 1.5)]
        {
            let name = format!("{messages} messages, {what}");
            let request = Repeated::chat(&bodies::session(Api::Chat, messages, varied));
            all.push(Case { name, request, times, claim, bound: None });
        }
    }
    all
}

/// Returns the instructions of a process for one request: the difference between a run with few and
/// one with more.
pub(crate) fn of_one(
    command: &[OsString],
    request: &mut Repeated,
    (few, more): (u32, u32),
) -> Outcome<f64> {
    let start = of_all(command, request, few)?;
    let all = of_all(command, request, few + more)?;
    Ok(all.saturating_sub(start) as f64 / f64::from(more))
}

/// Returns the instructions of a process that serves so many requests, from start to end.
fn of_all(command: &[OsString], request: &mut Repeated, times: u32) -> Outcome<u64> {
    counted(command, |proxy| repeat(proxy, request, times).map(drop))
}

/// Returns the instructions of a process from its start to its end. `serve` sends it requests.
pub(crate) fn counted(
    command: &[OsString],
    serve: impl FnOnce(&Proxy) -> Outcome<()>,
) -> Outcome<u64> {
    let counted = std::env::temp_dir().join(format!("photic-instructions-{}", std::process::id()));
    let mut option = OsString::from("--callgrind-out-file=");
    option.push(&counted);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]).arg(option).args(command);
    let proxy = Proxy::start(&mut valgrind)?;
    let served = serve(&proxy);
    proxy.end()?;
    let total = total(&counted);
    let _ = std::fs::remove_file(&counted);
    served.and(total)
}

fn total(counted: &Path) -> Outcome<u64> {
    let text = std::fs::read_to_string(counted)?;
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(line.ok_or("callgrind counted nothing")?.trim().parse()?)
}
