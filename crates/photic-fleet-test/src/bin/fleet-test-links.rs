//! `fleet-test-links`: links between replicas and their stores that break on request.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;
use photic_fleet_test::links::{Link, obey, serve};
use tokio::sync::watch;

/// Links that break when they are told to
#[derive(Debug, Parser)]
struct Options {
    /// The socket on which it is told
    #[arg(long)]
    control: PathBuf,
    /// A link: `NAME=LISTEN-TARGET`
    #[arg(required = true)]
    links: Vec<Link>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut told = BTreeMap::new();
    let mut served = tokio::task::JoinSet::new();
    for link in options.links {
        let (tell, mode) = watch::channel(photic_fleet_test::links::Mode::Pass);
        told.insert(link.name.clone(), tell);
        served.spawn(serve(link, mode));
    }
    tokio::select! {
        obeyed = obey(&options.control, &told) => Ok(obeyed?),
        // A link ends only if its address cannot be used.
        Some(ended) = served.join_next() => Ok(ended??),
    }
}
