//! `fleet-test-keys`: creates keys of tenants and writes the file for the agents.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use clap::Parser;
use photic_fleet::{Keys as _, Postgres, PostgresOptions};
use photic_store::Tenant;

/// Keys of tenants
#[derive(Debug, Parser)]
struct Options {
    /// The record; without one, there is a single tenant without a key
    #[arg(long)]
    postgres: Option<String>,
    /// Number of tenants
    #[arg(long, default_value_t = 4)]
    tenants: u32,
    /// The file
    #[arg(long)]
    out: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut lines = String::new();
    match options.postgres {
        None => writeln!(lines, "local - {}", marked("local"))?,
        Some(address) => {
            let record = Postgres::open(&address, PostgresOptions::default()).await?;
            for number in 1..=options.tenants {
                let name = format!("tenant{number}");
                let key = record.issue_key(&Tenant::new(&name), "load-test", None).await?.reveal();
                writeln!(lines, "{name} {key} {}", marked(&key))?;
            }
        }
    }
    fs::write(options.out, lines)?;
    Ok(())
}

/// Returns a provider key that can be searched for.
fn marked(of: &str) -> String {
    format!("sk-CANARY{}", &blake3::hash(of.as_bytes()).to_hex()[..24])
}
