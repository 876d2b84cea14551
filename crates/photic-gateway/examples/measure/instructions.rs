//! What requests cost in instructions, counted by callgrind: the same on every machine, whatever
//! its kernel takes beside them and whatever else it does.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::load::repeat;
use crate::proxy::Proxy;
use crate::{Claim, Goal, Outcome, Row};

/// Started and warm, and then so many more.
const FEW: u32 = 200;
const MORE: u32 = 1000;

/// The pipe and the gateway, for one request in the process itself.
pub(crate) fn row(name: &'static str, upstream: SocketAddr, request: &[u8]) -> Outcome<Row> {
    let this = std::env::current_exe()?;
    let pipe = this.with_file_name("pipe");
    let upstream = upstream.to_string();
    let pipe = of_one(&[pipe.as_os_str(), upstream.as_ref()], request)?;
    let gateway = of_one(&[this.as_os_str(), "gateway".as_ref(), upstream.as_ref()], request)?;
    let claim = Claim { value: gateway / pipe, goal: Goal::AtMost(2.5), slack: 0.0, unit: "×" };
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

/// Of a process that serves so many, from its start to its end.
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
