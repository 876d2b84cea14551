//! Measures the memory of many large bodies at once, the memory that is left afterwards, and the memory
//! of conversations that are kept for their next turns.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::bodies::{Api, Repeated};
use crate::gateway::Setting;
use crate::load::{answer, connect, repeat};
use crate::{Outcome, bodies, gateway, upstream};

/// Number of bodies at once.
const BODIES: usize = 16;
/// The payload of a TCP segment on most networks.
const SEGMENT: usize = 1448;
/// Number of conversations that are kept, and of their turns.
const SESSIONS: u32 = 1000;
const TURNS: usize = 200;
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

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// As a whole.
    Whole,
    /// In pieces of 1,448 bytes.
    Segments,
}

/// Sends the bodies three times to an upstream that answers only when it has all of them.
pub(crate) fn measure(writes: Writes) -> Outcome<MemoryUse> {
    let size = if writes == Writes::Segments { SEGMENT } else { usize::MAX };
    let gateway = gateway::start(&upstream::url(upstream::start(BODIES)?), Setting::Plain)?;
    let request = bodies::request("/v1/chat/completions", "", &bodies::screenshots(9_000_000));
    for _ in 0..3 {
        std::thread::scope(|scope| {
            let send = || -> Result<(), String> {
                let mut stream = connect(gateway.address).map_err(|error| error.to_string())?;
                for piece in request.chunks(size) {
                    stream.write_all(piece).map_err(|error| error.to_string())?;
                }
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

/// The memory of conversations that are kept, in MB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptSessions {
    /// The bodies of their last turns.
    pub(crate) bodies: f64,
    /// What the process has more than before the first of them.
    pub(crate) resident: f64,
}

/// Sends the last turn of each of 1,000 conversations of 200 turns.
pub(crate) fn kept_sessions() -> Outcome<KeptSessions> {
    let gateway = gateway::start(&upstream::url(upstream::start(1)?), Setting::Plain)?;
    repeat(&gateway, &mut Repeated::chat(&bodies::words("gpt-4o", false)), 20)?;
    let before = gateway.resident()?;
    let messages = 2 * TURNS - 1;
    let mut request = Repeated::chat(&bodies::session(Api::Chat, messages, 0));
    repeat(&gateway, &mut request, SESSIONS)?;
    let bodies = f64::from(SESSIONS) * request.next().len() as f64 / 1e6;
    Ok(KeptSessions { bodies, resident: gateway.resident()? - before })
}
