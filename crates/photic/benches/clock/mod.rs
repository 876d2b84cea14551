//! Shared by the benches: CPU time and medians to print, instructions to check.
#![allow(dead_code, reason = "no bench needs all of it")]

pub(crate) mod instructions;

/// CPU time of this thread.
pub(crate) fn cpu_nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub(crate) fn median(times: &mut [u64]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64
}
