//! Chaos: thousands of requests through the gateway, a separate process, to a strict provider that
//! misbehaves at random, from clients that disconnect at random.
//!
//! Nothing may hang, leak or be mixed up, and every failure must have the error format of the client's
//! wire. Prints the results, and fails if one of them is not allowed.
//!
//! `cargo run --example chaos [REQUESTS [SEED]]`

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

mod client;
mod gateway;
mod request;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use photic_mock::{Mock, Options};
use tokio::task::JoinSet;

use gateway::Gateway;
use request::Pictures;
use verdict::Verdict;

/// The allocator of the `photic` command.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Requests at once.
const AT_ONCE: usize = 64;
/// Time in which the gateway must become idle. Unused connections to the provider are kept for 50
/// seconds and checked every 50.
const REST: Duration = Duration::from_secs(130);
/// Number of files that may be open beyond those at the start, like a connection to the provider.
const SPARE_FILES: usize = 8;
/// Memory that may be in use at the end beyond that at the start, in MB.
const SPARE_MEMORY: u64 = 20;
/// Maximum memory of the gateway as a multiple of the bodies of running requests. `measure` reports
/// the memory of bodies that are held (1.15 times). Here a body no longer counts once its client has
/// disconnected, while the gateway still holds it, and the allocator keeps pages for a moment: 2.1 to
/// 3 times were measured.
const MAX_BODY_FACTOR: f64 = 4.0;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("gateway") {
        return gateway::run(&arguments.next().ok_or("missing argument: the upstream")?);
    }
    let count = first.map_or(Ok(10_000), |count| count.parse())?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mock = Mock::start(Options::default())?;
    let gateway = Gateway::start(mock.address())?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(chaos(&gateway, count, seed))
}

async fn chaos(gateway: &Gateway, count: u64, seed: u64) -> Outcome<()> {
    let pictures = Arc::new(Pictures::new()?);
    // Warms up caches and pools.
    let warm = request::Request::plain(&pictures);
    client::exchange(gateway.address, &warm).await;
    let (files, memory) = (gateway.files()?, gateway.memory()?);
    let begun = Instant::now();
    let bodies = Arc::new(Bodies::default());
    let tally = load(gateway, &pictures, &bodies, count, seed).await?;
    let took = begun.elapsed();
    let (peak, bodies) = (gateway.peak()?, bodies.most.load(Ordering::Relaxed) >> 20);
    print(&tally);
    println!("{count} requests, seed {seed}, {AT_ONCE} at once: {:.1} s", took.as_secs_f64());
    let (mut files_after, mut memory_after) = (0, 0);
    let rest = Instant::now();
    while rest.elapsed() < REST {
        tokio::time::sleep(Duration::from_secs(1)).await;
        (files_after, memory_after) = (gateway.files()?, gateway.memory()?);
        if files_after <= files + SPARE_FILES && memory_after <= memory + SPARE_MEMORY {
            break;
        }
    }
    println!(
        "open files {files} → {files_after}, memory {memory} MB → {memory_after} MB (peak {peak} MB, \
         with {bodies} MB of bodies under way), at rest after {:.0} s",
        rest.elapsed().as_secs_f64()
    );
    let wrong: u64 =
        tally.iter().filter(|((_, verdict), _)| verdict.is_wrong()).map(|(_, count)| count).sum();
    if wrong > 0 {
        return Err(format!("{wrong} requests went wrong").into());
    }
    if files_after > files + SPARE_FILES {
        return Err("files were left open".into());
    }
    if memory_after > memory + SPARE_MEMORY {
        return Err("memory was not given back".into());
    }
    if peak.saturating_sub(memory) as f64 > bodies as f64 * MAX_BODY_FACTOR {
        return Err("the bodies took too much memory".into());
    }
    Ok(())
}

/// The number of each verdict for each trouble.
type Tally = BTreeMap<(&'static str, Verdict), u64>;

/// Bytes of running requests, and their maximum.
#[derive(Default)]
struct Bodies {
    now: AtomicU64,
    most: AtomicU64,
}

async fn load(
    gateway: &Gateway,
    pictures: &Arc<Pictures>,
    bodies: &Arc<Bodies>,
    count: u64,
    seed: u64,
) -> Outcome<Tally> {
    let next = Arc::new(AtomicU64::new(0));
    let mut workers = JoinSet::new();
    let address = gateway.address;
    for _ in 0..AT_ONCE {
        let (next, pictures) = (Arc::clone(&next), Arc::clone(pictures));
        let bodies = Arc::clone(bodies);
        workers.spawn(async move {
            let mut tally = Tally::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return tally;
                }
                let request = request::Request::new(number, seed, &pictures);
                let bytes = request.bytes.len() as u64;
                let now = bodies.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
                bodies.most.fetch_max(now, Ordering::Relaxed);
                let reply = client::exchange(address, &request).await;
                bodies.now.fetch_sub(bytes, Ordering::Relaxed);
                let verdict = Verdict::of(&request, &reply);
                if verdict.is_wrong() {
                    println!(
                        "request {number}: {}: {verdict:?}: {}",
                        request.describe(),
                        reply.describe()
                    );
                }
                *tally.entry((request.trouble.name(), verdict)).or_default() += 1;
            }
        });
    }
    let mut all = Tally::new();
    while let Some(tally) = workers.join_next().await {
        for (key, count) in tally? {
            *all.entry(key).or_default() += count;
        }
    }
    Ok(all)
}

fn print(tally: &Tally) {
    println!("{:20} {:22} {:>7}", "trouble", "what the client got", "times");
    for ((trouble, verdict), count) in tally {
        println!("{trouble:20} {:22} {count:>7}", verdict.name());
    }
}
