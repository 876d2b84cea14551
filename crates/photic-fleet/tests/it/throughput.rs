//! The cost of turns on real servers. Results are printed; only impossible ones fail.

use std::time::{Duration, Instant};

use photic_store::contract::{Conversation, picture};
use photic_store::{Blobs as _, Tenant};

use crate::servers::place;

const SESSIONS: u64 = 16;
const TURNS: u64 = 50;

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_sessions_of_fifty_turns_with_a_new_picture_each() {
    let Some(place) = place().await else { return };
    let fleet = place.open_patiently().await;
    let (begun, cpu) = (Instant::now(), spent());
    let writing = (0..SESSIONS).map(|session| {
        let store = fleet.store(Tenant::new("busy"));
        tokio::spawn(async move {
            let id = store.begin("busy").await.unwrap();
            let mut talk = Conversation::new("look");
            // The typical size of tool definitions in agents' requests.
            talk.settings["user"] = "tools".repeat(4000).into();
            talk.policy.retention = photic::retention::Retention::Newest(2);
            let mut slowest = Duration::ZERO;
            for turn in 0..TURNS {
                talk.look(&picture(session * TURNS + turn, 20_000));
                let begun = Instant::now();
                talk.send(&store, &id, 1).await.unwrap();
                slowest = slowest.max(begun.elapsed());
            }
            (id, slowest, talk.body())
        })
    });
    let mut ends = Vec::new();
    for written in writing.collect::<Vec<_>>() {
        ends.push(written.await.unwrap());
    }
    let (time, cpu) = (begun.elapsed(), spent().saturating_sub(cpu));
    let turns = (SESSIONS * TURNS) as f64;
    let objects = fleet.bucket.list("t").await.unwrap().len();
    println!(
        "{}: {turns} turns in {time:.2?}: {:.0} a second, {:.2} ms of CPU each, the slowest in {:?}; \
         {objects} objects",
        place.server,
        turns / time.as_secs_f64(),
        cpu.as_secs_f64() * 1000.0 / turns,
        ends.iter().map(|(_, slowest, _)| *slowest).max().unwrap(),
    );
    let store = fleet.store(Tenant::new("busy"));
    for (id, _, body) in ends.iter().take(2) {
        assert_eq!(store.body(id, TURNS).await.unwrap(), *body);
        store.lower(id, TURNS).await.unwrap();
    }
    assert!(store.blobs.list(None).await.unwrap().len() as f64 >= turns);
}

/// Returns the CPU time of this process.
fn spent() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
