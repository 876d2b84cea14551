//! Measures the memory of many large bodies at once, and the memory that is left afterwards.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::gateway::Setting;
use crate::load::{answer, connect};
use crate::{Outcome, bodies, gateway, upstream};

/// Number of bodies at once.
const BODIES: usize = 16;
/// Time in which memory must be returned to the system.
const REST: Duration = Duration::from_secs(40);

/// The memory of a gateway, in MB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryUse {
    /// The bodies themselves.
    pub(crate) bodies: f64,
    pub(crate) peak: f64,
    /// The minimum after the requests.
    pub(crate) rest: f64,
}

/// Sends the bodies three times to an upstream that answers only when it has all of them.
pub(crate) fn measure() -> Outcome<MemoryUse> {
    let gateway = gateway::start(&upstream::url(upstream::start(BODIES)?), Setting::Plain)?;
    let request = bodies::request("/v1/chat/completions", "", &bodies::screenshots(9_000_000));
    for _ in 0..3 {
        std::thread::scope(|scope| {
            let send = || -> Result<(), String> {
                let mut stream = connect(gateway.address).map_err(|error| error.to_string())?;
                stream.write_all(&request).map_err(|error| error.to_string())?;
                answer(&mut stream).map_err(|error| error.to_string())
            };
            let all: Vec<_> = (0..BODIES).map(|_| scope.spawn(send)).collect();
            all.into_iter().try_for_each(|one| one.join().map_err(|_| "a thread panicked")?)
        })?;
    }
    let peak = gateway.peak()?;
    let mut rest = f64::INFINITY;
    let begun = Instant::now();
    while begun.elapsed() < REST && rest > 30.0 {
        std::thread::sleep(Duration::from_secs(1));
        rest = rest.min(gateway.resident()?);
    }
    Ok(MemoryUse { bodies: (BODIES * request.len()) as f64 / 1e6, peak, rest })
}
