//! What the benches share: CPU time, medians, and what a busy machine is allowed.
#![allow(dead_code, reason = "no bench needs all of it")]

/// CPU time of this thread.
pub(crate) fn cpu_nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub(crate) fn median(times: &mut [u64]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64
}

/// The goal, or what the variable says.
pub(crate) fn allowed(variable: &str, goal: f64) -> f64 {
    std::env::var(variable).ok().and_then(|most| most.parse().ok()).unwrap_or(goal)
}
