//! Agents: conversations that go on for many turns, as real clients hold them.
//!
//! Owns who asks what and when, and that nobody gives up where a real client would not. Must never
//! be lenient: an answer that does not name the latest picture fails its session.

mod picture;
mod session;
mod wire;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use photic::Wire;
use serde::Serialize;
use tokio::sync::Barrier;

use crate::door::{Ask, Door};
use crate::journal::Journal;
use crate::tenants::Tenant;

use picture::Album;
use session::Session;

/// Where the pictures of a conversation come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// From tools in most conversations, from people in some.
    #[default]
    Any,
    /// From tools, wherever their results can hold one.
    Tools,
}

/// What the agents do.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Where they ask, in turn.
    pub doors: Vec<SocketAddr>,
    /// For whom.
    pub tenants: Vec<Tenant>,
    /// On which wires.
    pub wires: Vec<Wire>,
    /// How many conversations, all of them open at the same time.
    pub sessions: u32,
    /// How many turns each has.
    pub turns: u32,
    /// How many requests are under way at once.
    pub at_once: u32,
    /// One turn in so many brings a new picture.
    pub every: u32,
    /// At least so many bytes a picture.
    pub weight: usize,
    /// Of a hundred sessions, how many upload their pictures once instead of sending them each time.
    pub uploading: u32,
    /// Where pictures come from.
    pub origin: Origin,
    /// How long a request is tried again.
    pub patience: Duration,
    /// The first number of a session: runs on the same stores have others.
    pub first: u32,
    /// Processes whose CPU time is read after every turn of all.
    pub metered: Vec<u32>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Conversations that came to their end.
    pub sessions: u32,
    /// Turns that were answered.
    pub turns: u64,
    /// Turns of which the record was promised.
    pub acknowledged: u64,
    /// Turns without that promise.
    pub unacknowledged: u64,
    /// Requests that were sent again.
    pub retries: u64,
    /// Pictures that were taken in.
    pub uploads: u64,
    /// Bytes of bodies that were sent.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Conversations that failed, and why.
    pub failed: Vec<String>,
    /// CPU seconds of the metered processes after each turn of all.
    pub cpu: Vec<f64>,
}

/// The last request of a session, to be sent again to every replica.
#[derive(Debug)]
pub struct Last {
    /// Which session.
    pub session: u32,
    /// Whose.
    pub tenant: String,
    /// What was asked.
    pub ask: Ask,
}

/// Runs the errand, on the thread of its caller (a `LocalSet`).
pub async fn run(errand: Errand, journal: Rc<Journal>) -> anyhow::Result<(Report, Vec<Last>)> {
    let begun = Instant::now();
    let errand = Rc::new(errand);
    let album = Rc::new(Album::new(errand.weight)?);
    let workers = errand.at_once.min(errand.sessions).max(1);
    // With a meter, nobody begins a turn before all have ended the one before.
    let together = Rc::new(Barrier::new(workers as usize));
    let mut running = Vec::new();
    for worker in 0..workers {
        let (errand, album) = (Rc::clone(&errand), Rc::clone(&album));
        let (journal, together) = (Rc::clone(&journal), Rc::clone(&together));
        let work = work(worker, workers, errand, album, journal, together);
        running.push(tokio::task::spawn_local(work));
    }
    let (mut report, mut lasts) = (Report::default(), Vec::new());
    for worker in running {
        let (part, last) = worker.await??;
        report.add(part);
        lasts.extend(last);
    }
    report.seconds = begun.elapsed().as_secs_f64();
    journal.flush()?;
    Ok((report, lasts))
}

/// One request at a time, over the sessions of one worker: a turn of each, then the next.
async fn work(
    worker: u32,
    workers: u32,
    errand: Rc<Errand>,
    album: Rc<Album>,
    journal: Rc<Journal>,
    together: Rc<Barrier>,
) -> anyhow::Result<(Report, Vec<Last>)> {
    let mut report = Report::default();
    let address = errand.doors[worker as usize % errand.doors.len()];
    let mut door = Door::to(address);
    let numbers = (worker..errand.sessions).step_by(workers as usize);
    let mut sessions: Vec<Session> =
        numbers.map(|number| Session::new(errand.first + number, &errand)).collect();
    for _ in 0..errand.turns {
        let mut going = Vec::with_capacity(sessions.len());
        for mut session in sessions {
            match session.turn(&mut door, &album, &journal, &mut report).await {
                Ok(()) => going.push(session),
                Err(why) => report.failed.push(format!("session {}: {why:#}", session.number())),
            }
        }
        sessions = going;
        if !errand.metered.is_empty() && together.wait().await.is_leader() {
            report.cpu.push(errand.metered.iter().map(|pid| cpu_seconds(*pid)).sum());
        }
    }
    report.sessions = sessions.len() as u32;
    let lasts = sessions.into_iter().filter_map(Session::into_last).collect();
    Ok((report, lasts))
}

/// CPU time of a process so far; 0 if there is none.
fn cpu_seconds(process: u32) -> f64 {
    // Hundredths of a second, as all systems have it that have /proc.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = words.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

impl Report {
    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.turns += other.turns;
        self.acknowledged += other.acknowledged;
        self.unacknowledged += other.unacknowledged;
        self.retries += other.retries;
        self.uploads += other.uploads;
        self.bytes += other.bytes;
        self.failed.extend(other.failed);
        // Another worker may have been the last to arrive each time; the times only grow.
        self.cpu.extend(other.cpu);
        self.cpu.sort_by(f64::total_cmp);
    }
}
