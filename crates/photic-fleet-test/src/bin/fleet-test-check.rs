//! `fleet-test-check`: reads back acknowledged turns through stores and replicas.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Parser;
use photic_fleet::{Audit, Bucket, BucketOptions, Fleet, Postgres, PostgresOptions};
use photic_fleet_test::check::{CachedBlobs, Findings, Sample, audits, foreign, replicas, turns};
use photic_fleet_test::{journal, tenants};
use photic_store::{LocalStore, Store, Tenant};

/// Check the stores against the journal of the agents
#[derive(Debug, Parser)]
struct Options {
    /// The journal of the agents
    #[arg(long)]
    journal: PathBuf,
    /// File of tenants: name, key and provider key per line
    #[arg(long)]
    tenants: PathBuf,
    /// The record
    #[arg(long, requires = "bucket")]
    postgres: Option<String>,
    /// The blobs
    #[arg(long)]
    bucket: Option<String>,
    /// A record on this machine, instead
    #[arg(long, conflicts_with = "postgres")]
    directory: Option<PathBuf>,
    /// One promised turn in so many is made again
    #[arg(long, default_value_t = 1)]
    remake: usize,
    /// Requests to be sent to every replica
    #[arg(long, requires = "replicas")]
    samples: Option<PathBuf>,
    /// A replica
    #[arg(long = "replica")]
    replicas: Vec<SocketAddr>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let lines = journal::read(&options.journal)?;
    let tenants = tenants::read(&options.tenants)?;
    let names = tenants.iter().map(|tenant| tenant.name.clone());
    let mut findings = Findings::default();
    if let Some((postgres, bucket)) = options.postgres.as_ref().zip(options.bucket.as_ref()) {
        let record = Postgres::open(postgres, PostgresOptions::default()).await;
        let record = record.context("the record cannot be opened")?;
        let bucket = Bucket::open(bucket, BucketOptions::default())?;
        let fleet = Fleet { record, bucket };
        let stores: BTreeMap<String, _> =
            names.map(|name| (name.clone(), recalled(fleet.store(Tenant::new(&name))))).collect();
        findings.add(turns(&stores, &lines, options.remake).await);
        findings.add(audits(&Audit::new(fleet.record), &tenants).await);
    } else if let Some(directory) = &options.directory {
        let store = recalled(LocalStore::open(directory)?);
        let stores = names.map(|name| (name, Arc::clone(&store))).collect();
        findings.add(turns(&stores, &lines, options.remake).await);
    }
    if let Some(path) = &options.samples {
        let samples: Vec<Sample> = serde_json::from_slice(&fs::read(path)?)?;
        findings.add(replicas(&samples, &options.replicas, &lines).await);
    }
    if let Some(replica) = options.replicas.first() {
        findings.add(foreign(*replica, &tenants, &lines).await);
    }
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &findings)?;
    out.write_all(b"\n")?;
    Ok(if findings.complained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn recalled<R, B>(store: Store<R, B>) -> Arc<Store<R, CachedBlobs<B>>> {
    Arc::new(Store {
        record: store.record,
        blobs: CachedBlobs::new(store.blobs),
        tenant: store.tenant,
    })
}
