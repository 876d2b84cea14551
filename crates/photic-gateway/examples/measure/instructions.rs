//! Counts the instructions of a request with callgrind. The count does not depend on the kernel, the
//! machine, or its load.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::load::repeat;
use crate::proxy::Proxy;
use crate::{Claim, Goal, Outcome, Row};

/// Requests of the shorter run, which includes start and warm-up, and of the longer one.
const FEW: u32 = 200;
const MORE: u32 = 1000;

/// Returns the instructions of the pipe and of the gateway for one request.
pub(crate) fn row(name: &'static str, upstream: SocketAddr, request: &[u8]) -> Outcome<Row> {
    let this = std::env::current_exe()?;
    let pipe = this.with_file_name("pipe");
    let upstream = upstream.to_string();
    let pipe = of_one(&[pipe.as_os_str(), upstream.as_ref()], request)?;
    let gateway = of_one(&[this.as_os_str(), "gateway".as_ref(), upstream.as_ref()], request)?;
    let claim = Claim { value: gateway / pipe, goal: Goal::AtMost(2.75), slack: 0.0, unit: "×" };
    let thousand = |count: f64| format!("{:.0} thousand", count / 1e3);
    Ok(Row {
        name,
        pipe: thousand(pipe),
        gateway: thousand(gateway),
        litellm: String::new(),
        claim: Some(claim),
    })
}

fn of_one(command: &[&OsStr], request: &[u8]) -> Outcome<f64> {
    let few = of_all(command, request, FEW)?;
    let all = of_all(command, request, FEW + MORE)?;
    Ok(all.saturating_sub(few) as f64 / f64::from(MORE))
}

/// Returns the instructions of a process that serves so many requests, from start to end.
fn of_all(command: &[&OsStr], request: &[u8], times: u32) -> Outcome<u64> {
    let counted = std::env::temp_dir().join(format!("photic-instructions-{}", std::process::id()));
    let mut option = std::ffi::OsString::from("--callgrind-out-file=");
    option.push(&counted);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]).arg(option).args(command);
    let proxy = Proxy::start(&mut valgrind)?;
    let served = repeat(&proxy, request, times);
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
