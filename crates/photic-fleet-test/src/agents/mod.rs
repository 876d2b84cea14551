//! Simulated agents: conversations of many turns, as real clients hold them.
//!
//! Requests are retried where a real client would retry. An answer that does not name the latest
//! picture fails its session.

mod picture;
mod session;
mod wire;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use photic::Wire;
use serde::Serialize;
use tokio::sync::Barrier;

use crate::connection::{AgentRequest, Connection};
use crate::journal::Journal;
use crate::tenants::Tenant;

use picture::ChartSet;
use session::Session;

/// Origin of the pictures of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Tools in most conversations, users in some.
    #[default]
    Any,
    /// Tools, if the wire supports pictures in tool results.
    Tools,
}

/// The load that agents create.
#[derive(Clone, Debug)]
pub struct Load {
    /// Addresses of the replicas, used in turn.
    pub replicas: Vec<SocketAddr>,
    /// The tenants.
    pub tenants: Vec<Tenant>,
    /// The wires.
    pub wires: Vec<Wire>,
    /// Number of conversations, all open at the same time.
    pub sessions: u32,
    /// Number of turns of each conversation.
    pub turns: u32,
    /// Largest number of concurrent requests.
    pub at_once: u32,
    /// A new picture comes every so many turns.
    pub every: u32,
    /// Least size of a picture in bytes.
    pub weight: usize,
    /// Percentage of sessions that upload their pictures once instead of sending them each time.
    pub uploading: u32,
    /// Origin of the pictures.
    pub origin: Origin,
    /// Longest time for which a request is retried.
    pub patience: Duration,
    /// Number of the first session. Runs on the same stores need different numbers.
    pub first: u32,
    /// Processes whose CPU time is read after every round of turns.
    pub metered: Vec<u32>,
}

/// Result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Completed conversations.
    pub sessions: u32,
    /// Answered turns.
    pub turns: u64,
    /// Turns that were acknowledged as recorded.
    pub acknowledged: u64,
    /// Turns without this acknowledgement.
    pub unacknowledged: u64,
    /// Retried requests.
    pub retries: u64,
    /// Uploaded pictures.
    pub uploads: u64,
    /// Bytes of the sent bodies.
    pub bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Failed conversations with their errors.
    pub failed: Vec<String>,
    /// CPU seconds of the metered processes after each round.
    pub cpu: Vec<f64>,
}

/// The last request of a session, for sending it to every replica.
#[derive(Debug)]
pub struct LastRequest {
    /// Number of the session.
    pub session: u32,
    /// Name of the tenant.
    pub tenant: String,
    /// The request.
    pub ask: AgentRequest,
}

/// Runs the load on the caller's thread (a `LocalSet`).
pub async fn run(load: Load, journal: Rc<Journal>) -> anyhow::Result<(Report, Vec<LastRequest>)> {
    let begun = Instant::now();
    let load = Rc::new(load);
    let album = Rc::new(ChartSet::new(load.weight)?);
    let workers = load.at_once.min(load.sessions).max(1);
    // With a meter, all workers finish a turn before the next begins.
    let together = Rc::new(Barrier::new(workers as usize));
    let mut running = Vec::new();
    for worker in 0..workers {
        let (load, album) = (Rc::clone(&load), Rc::clone(&album));
        let (journal, together) = (Rc::clone(&journal), Rc::clone(&together));
        let work = work(worker, workers, load, album, journal, together);
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

/// Runs the sessions of one worker, one request at a time: a turn of each, then the next.
async fn work(
    worker: u32,
    workers: u32,
    load: Rc<Load>,
    album: Rc<ChartSet>,
    journal: Rc<Journal>,
    together: Rc<Barrier>,
) -> anyhow::Result<(Report, Vec<LastRequest>)> {
    let mut report = Report::default();
    let address = load.replicas[worker as usize % load.replicas.len()];
    let mut connection = Connection::to(address);
    let numbers = (worker..load.sessions).step_by(workers as usize);
    let mut sessions: Vec<Session> =
        numbers.map(|number| Session::new(load.first + number, &load)).collect();
    for _ in 0..load.turns {
        let mut going = Vec::with_capacity(sessions.len());
        for mut session in sessions {
            match session.turn(&mut connection, &album, &journal, &mut report).await {
                Ok(()) => going.push(session),
                Err(why) => report.failed.push(format!("session {}: {why:#}", session.number())),
            }
        }
        sessions = going;
        if !load.metered.is_empty() && together.wait().await.is_leader() {
            report.cpu.push(load.metered.iter().map(|pid| cpu_seconds(*pid)).sum());
        }
    }
    report.sessions = sessions.len() as u32;
    let lasts = sessions.into_iter().filter_map(Session::into_last).collect();
    Ok((report, lasts))
}

/// Returns the CPU time of a process; 0 if it does not exist.
fn cpu_seconds(process: u32) -> f64 {
    // In hundredths of a second, as on all systems with /proc.
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
        // Another worker may have measured each time; CPU times only grow.
        self.cpu.extend(other.cpu);
        self.cpu.sort_by(f64::total_cmp);
    }
}
