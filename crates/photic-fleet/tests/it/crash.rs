//! `kill -9` of replicas at random moments: everything that was reported as committed is there.
//!
//! The writer is this test binary, started again. `PHOTIC_CRASH_ROUNDS` sets the number of rounds.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use photic_store::contract::{Conversation, picture};
use photic_store::{BlobId, Tenant};

use crate::servers::{TestFleet, place};

const WHERE: &str = "PHOTIC_FLEET_CRASH_WRITER";
const TENANTS: [&str; 2] = ["acme", "other"];

/// Not a test by itself: the driver starts it.
#[tokio::test(flavor = "multi_thread")]
async fn writer() {
    let Ok(named) = std::env::var(WHERE) else { return };
    let (database, bucket) = named.split_once(' ').unwrap();
    let (database, bucket) = (database.to_owned(), bucket.to_owned());
    let place = TestFleet { server: String::new(), database, bucket };
    let fleet = place.open_patiently().await;
    let writers = (0..4_u64).map(|number| {
        let fleet = fleet.clone();
        tokio::spawn(async move {
            let store = fleet.store(Tenant::new(TENANTS[number as usize % 2]));
            let id = store.begin("crash").await.unwrap();
            let mut talk = Conversation::new("look");
            for turn in 0.. {
                let seed = u64::from(std::process::id()) * 1_000_000 + number * 100_000 + turn;
                talk.look(&picture(seed, 9_000));
                let (number, sent) = talk.send(&store, &id, 1).await.unwrap();
                let (tenant, came) = (store.tenant.as_str(), BlobId::of(&talk.body()));
                let line =
                    format!("committed {tenant} {id} {number} {came} {}\n", BlobId::of(&sent));
                let mut out = std::io::stdout().lock();
                out.write_all(line.as_bytes()).unwrap();
                out.flush().unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

/// Starts a replica, kills it some time after its first turn, and returns what it reported.
fn round(place: &TestFleet, life: Duration) -> Vec<Vec<String>> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::writer", "--nocapture", "--test-threads=1"])
        .env(WHERE, format!("{} {}", place.database, place.bucket))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let (first, began) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut committed, mut line) = (Vec::new(), String::new());
        while lines.read_line(&mut line).unwrap() > 0 {
            let words = line.split_once("committed ").map(|(_, rest)| rest.strip_suffix('\n'));
            let words = words.flatten().map(|rest| rest.split(' ').map(str::to_owned).collect());
            // A truncated line reports nothing.
            let whole = |words: &Vec<String>| words.len() == 5 && words[4].len() == 64;
            committed.extend(words.filter(whole));
            if !committed.is_empty() {
                let _ = first.send(());
            }
            line.clear();
        }
        committed
    });
    let _ = began.recv_timeout(Duration::from_secs(20));
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_replica_committed_survives_kill_9() {
    let Some(place) = place().await else { return };
    let rounds: u64 =
        std::env::var("PHOTIC_CRASH_ROUNDS").map_or(6, |rounds| rounds.parse().unwrap());
    let fleet = place.open_patiently().await;
    let (mut committed, mut chance) = (0, 88_172_645_463_325_252_u64);
    for _ in 0..rounds {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        let (place, life) = (place.clone(), Duration::from_millis(chance % 120));
        let told = tokio::task::spawn_blocking(move || round(&place, life)).await.unwrap();
        committed += told.len();
        for words in told {
            let [tenant, id, number, came, sent] = words.try_into().unwrap();
            let store = fleet.store(Tenant::new(tenant.as_str()));
            let (id, number) = (id.parse().unwrap(), number.parse().unwrap());
            let body = store.body(&id, number).await.unwrap();
            assert_eq!(BlobId::of(&body).to_string(), came, "{id}/{number}");
            let view = store.lower(&id, number).await.unwrap();
            assert_eq!(BlobId::of(&view.body).to_string(), sent, "{id}/{number}");
        }
    }
    println!("{rounds} replicas killed: {committed} turns committed, all found whole");
    assert!(committed as u64 > rounds, "replicas hardly wrote");
}
