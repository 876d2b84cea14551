//! `photic serve`: the gateway, until it is told to stop.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use photic_gateway::{Config, Gateway, learned};

use crate::arguments::ServeOptions;

/// Read when there and no other file is named.
const USUAL: &str = "photic.toml";

pub(crate) fn run(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    let config = config(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(config))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let stop = told_to_stop()?;
    let gateway = Gateway::bind(config).await?;
    writeln!(anstream::stderr(), "photic: listening on http://{}", gateway.address())?;
    if let Some(word) = gateway.word() {
        writeln!(anstream::stderr(), "photic: {word}")?;
    }
    gateway.serve(stop).await;
    Ok(())
}

/// Flags come before the file.
fn config(options: &ServeOptions) -> anyhow::Result<Config> {
    let mut config = settings(options.config.as_deref())?;
    if let Some(listen) = &options.listen {
        config.listen.clone_from(listen);
    }
    config.upstream.splice(0..0, options.upstream.iter().cloned());
    Ok(config)
}

/// Those of the file that is named, or of the usual one.
pub(crate) fn settings(named: Option<&Path>) -> anyhow::Result<Config> {
    let usual = || Some(Path::new(USUAL)).filter(|path| path.is_file());
    let mut config = named.or_else(usual).map_or_else(|| Ok(Config::default()), read)?;
    // An embedded gateway writes nowhere unless told; a command has a usual place.
    config.learned.path = config.learned.path.or_else(learned::usual_file);
    Ok(config)
}

/// Where a gateway that is started here keeps what it learns.
pub(crate) fn learned_file() -> anyhow::Result<Option<PathBuf>> {
    let path = settings(None)?.learned.path;
    Ok(path.filter(|path| !path.as_os_str().is_empty()))
}

fn read(path: &Path) -> anyhow::Result<Config> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    Config::parse(&text).with_context(|| format!("cannot use `{}`", path.display()))
}

/// Done when the process is asked to end.
#[cfg(unix)]
fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Done when the process is asked to end.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
