//! Chaos: thousands of requests through the gateway, a process of its own, to a strict provider
//! that misbehaves at random, from clients that leave at random.
//!
//! Nothing may hang, leak or be mixed up, and every failure must come in the caller's envelope.
//! Prints what happened, and fails if something did that may not.
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

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Requests under way at once.
const AT_ONCE: usize = 64;
/// How long the gateway may take to come to rest. Unused connections to the provider are kept for 50
/// seconds and looked at every 50.
const REST: Duration = Duration::from_secs(130);
/// How many files may be open more than at the start: one connection to the provider and the like.
const SPARE_FILES: usize = 8;
/// How much memory may be in use at rest, in MB. The allocator keeps some of what each thread freed:
/// 76 MB were seen with the threads that the gateway has, 127 with one more.
const MOST_MEMORY: u64 = 160;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("gateway") {
        return gateway::run(&arguments.next().ok_or("an upstream is wanted")?);
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
    // Once through everything, so that what is made once is made.
    let warm = request::Request::plain(&pictures);
    client::exchange(gateway.address, &warm).await;
    let (files, memory) = (gateway.files()?, gateway.memory()?);
    let begun = Instant::now();
    let tally = storm(gateway, &pictures, count, seed).await?;
    let took = begun.elapsed();
    let peak = gateway.peak()?;
    print(&tally);
    println!("{count} requests, seed {seed}, {AT_ONCE} at once: {:.1} s", took.as_secs_f64());
    let (mut files_after, mut memory_after) = (0, 0);
    let rest = Instant::now();
    while rest.elapsed() < REST {
        tokio::time::sleep(Duration::from_secs(1)).await;
        (files_after, memory_after) = (gateway.files()?, gateway.memory()?);
        if files_after <= files + SPARE_FILES && memory_after <= MOST_MEMORY {
            break;
        }
    }
    println!(
        "open files {files} → {files_after}, memory {memory} MB → {memory_after} MB (peak {peak} MB), at rest after {:.0} s",
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
    if memory_after > MOST_MEMORY {
        return Err("memory was not given back".into());
    }
    Ok(())
}

/// How often what happened when what was asked for.
type Tally = BTreeMap<(&'static str, Verdict), u64>;

async fn storm(
    gateway: &Gateway,
    pictures: &Arc<Pictures>,
    count: u64,
    seed: u64,
) -> Outcome<Tally> {
    let next = Arc::new(AtomicU64::new(0));
    let mut workers = JoinSet::new();
    let address = gateway.address;
    for _ in 0..AT_ONCE {
        let (next, pictures) = (Arc::clone(&next), Arc::clone(pictures));
        workers.spawn(async move {
            let mut tally = Tally::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return tally;
                }
                let request = request::Request::new(number, seed, &pictures);
                let reply = client::exchange(address, &request).await;
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
