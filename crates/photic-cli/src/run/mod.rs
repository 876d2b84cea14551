//! `photic run`: a command, with a gateway in front of its providers for as long as it runs.

mod bases;
mod child;
mod summary;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use photic_gateway::{Admin, Config, Family, Gateway, LogFormat, PathPrefixes, StartError};
use tokio::process::Command;

use crate::arguments::RunOptions;
use crate::settings::Settings;
use crate::{serve, settings, style};
use bases::Bases;
use tokio::sync::oneshot;

/// What a shell answers when there is no such command.
const NOT_FOUND: u8 = 127;
/// What a shell answers when there is one that cannot be run.
const NOT_RUNNABLE: u8 = 126;

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<ExitCode> {
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    let code = runtime.block_on(with_gateway(options));
    // Whatever the command left running has lost its gateway anyway.
    runtime.shutdown_background();
    code
}

async fn with_gateway(options: &RunOptions) -> anyhow::Result<ExitCode> {
    let bases = Bases::from_environment(&options.upstream)?;
    let Settings { mut config, source } = settings::load(options.config.as_deref())?;
    if let Some(word) = source.not_read().filter(|_| !options.quiet) {
        let _ = writeln!(anstream::stderr(), "photic: {word}");
    }
    config.listen = format!("127.0.0.1:{}", options.port);
    // The terminal is the command's, and so is this gateway: nobody else operates it.
    (config.log, config.admin) = (LogFormat::Off, Admin::default());
    config.upstream.splice(0..0, serve::overriding(&options.upstream).chain(bases.upstreams()));
    let lead_amazon = bases::serves(&config.upstream, Family::AMAZON);
    bases::complete_families(&mut config.upstream)?;
    // Only the command knows it: neither a page nor another process gets past it.
    let token = token()?;
    config.prefixes = Some(PathPrefixes::new(&token));
    (config.hosts, config.origins) = (Vec::new(), Vec::new());
    serve::record(&mut config, options.record.record.as_deref())?;
    // What the command left running loses its gateway; what is being kept may be finished.
    config.timeouts.drain_s = config.timeouts.drain_s.min(1);
    let gateway = bind(config, &bases).await?;
    let (address, tally) = (gateway.address(), gateway.tally());
    let Some((program, arguments)) = options.command.split_first() else {
        anyhow::bail!("no command");
    };
    // Before the command starts: from then on, signals are meant for it.
    let mut signals = child::Signals::new().context("cannot wait for signals")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(bases::leading_to(address, &token, lead_amazon));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(cause) => return Ok(cannot_run(program, cause)),
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(gateway.serve(async {
        let _ = stopped.await;
    }));
    let status = child::wait(&mut child, &mut signals).await.context("cannot wait for it")?;
    drop(stop);
    let _ = serving.await;
    if !options.quiet {
        // The reader may have left with the command; its code still counts.
        let _ = writeln!(anstream::stderr(), "{}", summary::of(&tally));
    }
    Ok(ExitCode::from(child::code(status)))
}

/// 128 bits that nobody guesses, as part of a path.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| anyhow::anyhow!("the system has no random numbers"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

async fn bind(config: Config, bases: &Bases) -> anyhow::Result<Gateway> {
    match Gateway::bind(config).await {
        Err(StartError::Itself(host)) if let Some(name) = bases.naming(&host) => {
            anyhow::bail!("`{name}` is the address of this gateway itself")
        }
        bound => Ok(bound?),
    }
}

fn cannot_run(program: &OsStr, cause: io::Error) -> ExitCode {
    let code = if cause.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE };
    let program = program.display();
    style::error(&anyhow::Error::new(cause).context(format!("cannot run `{program}`")));
    ExitCode::from(code)
}
