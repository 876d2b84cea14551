//! `fleet-test-agents`: runs conversations through the fleet and writes a journal of acknowledged turns.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use photic::Wire;
use photic_fleet_test::agents::{self, Load, Origin};
use photic_fleet_test::check::Sample;
use photic_fleet_test::journal::Journal;
use photic_fleet_test::tenants;

/// Largest number of last requests to save.
const SAMPLES: usize = 60;

/// Agents that talk through the fleet
#[derive(Debug, Parser)]
struct Options {
    /// Address of a replica; several are used in turn
    #[arg(long = "to", required = true)]
    replicas: Vec<SocketAddr>,
    /// File of tenants: name, key and provider key per line
    #[arg(long)]
    tenants: PathBuf,
    /// Path of the journal to write
    #[arg(long)]
    journal: PathBuf,
    /// Path for some last requests, to be sent to every replica
    #[arg(long)]
    samples: Option<PathBuf>,
    /// The wires; without one, all
    #[arg(long = "wire", value_parser = wire)]
    wires: Vec<Wire>,
    /// Conversations
    #[arg(long, default_value_t = 60)]
    sessions: u32,
    /// Turns of each
    #[arg(long, default_value_t = 10)]
    turns: u32,
    /// Requests under way at once
    #[arg(long, default_value_t = 32)]
    at_once: u32,
    /// One turn in so many brings a new picture
    #[arg(long, default_value_t = 1)]
    every: u32,
    /// Bytes of a picture, at least
    #[arg(long, default_value_t = 0)]
    weight: usize,
    /// Sessions of a hundred that upload their pictures
    #[arg(long, default_value_t = 50)]
    uploading: u32,
    /// No pictures from people, only from tools
    #[arg(long)]
    tools_only: bool,
    /// Seconds for which a request is tried again
    #[arg(long, default_value_t = 180)]
    patience: u64,
    /// The number of the first conversation
    #[arg(long, default_value_t = 0)]
    first: u32,
    /// A process whose CPU time is read after every turn of all
    #[arg(long = "meter")]
    metered: Vec<u32>,
}

fn wire(name: &str) -> Result<Wire, String> {
    Wire::from_name(name).ok_or_else(|| format!("`{name}` is no wire"))
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let load = Load {
        replicas: options.replicas,
        tenants: tenants::read(&options.tenants)?,
        wires: if options.wires.is_empty() { Wire::ALL.to_vec() } else { options.wires },
        sessions: options.sessions,
        turns: options.turns,
        at_once: options.at_once,
        every: options.every,
        weight: options.weight,
        uploading: options.uploading,
        origin: if options.tools_only { Origin::Tools } else { Origin::Any },
        patience: Duration::from_secs(options.patience),
        first: options.first,
        metered: options.metered,
    };
    let journal = Rc::new(Journal::create(&options.journal).context("no journal")?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    let (report, lasts) = local.block_on(&runtime, agents::run(load, journal))?;
    if let Some(path) = options.samples {
        let every = lasts.len().div_ceil(SAMPLES).max(1);
        let samples: Vec<Sample> = lasts.iter().step_by(every).map(Sample::of).collect();
        fs::write(path, serde_json::to_vec(&samples)?)?;
    }
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &report)?;
    out.write_all(b"\n")?;
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
