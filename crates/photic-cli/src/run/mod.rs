//! `photic run`: runs a command behind a gateway of its own.

mod agents;
mod base_urls;
mod child;
mod destination;
mod environment;
mod launch;
mod print;
mod scratch;
mod summary;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_gateway::{
    Admin, CallersConfig, Config, Family, Gateway, InspectConfig, LogFormat, OidcConfig,
    PathPrefixes, Serves, StartError, TlsConfig,
};
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::arguments::RunOptions;
use crate::settings::Settings;
use crate::{serve, settings, style};
use agents::Recognized;
use base_urls::BaseUrls;
use environment::Environment;
use launch::Launch;
use summary::RecordedIn;

/// Exit code of a shell for an unknown command.
const NOT_FOUND: u8 = 127;
/// Exit code of a shell for a command that cannot be run.
const NOT_RUNNABLE: u8 = 126;

/// A command that is ready to be started, and the gateway for it.
struct Plan {
    bases: BaseUrls,
    agent: Option<Recognized>,
    launch: Launch,
    config: Config,
}

/// Runs the command, or prints how it would be run.
pub(crate) fn run(options: &RunOptions) -> anyhow::Result<ExitCode> {
    if let Some(format) = options.print {
        return print::print(format, options, plan(options)?);
    }
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    let code = runtime.block_on(with_gateway(options));
    // Processes that the command left behind have lost their gateway anyway.
    runtime.shutdown_background();
    code
}

/// Finds out what the command needs.
fn plan(options: &RunOptions) -> anyhow::Result<Plan> {
    let environment = Environment::current();
    let bases = BaseUrls::new(&environment, &options.upstream)?;
    let agent = agents::recognize(&options.command)?;
    let Settings { mut config, source } = settings::load(options.config.as_deref())?;
    if let Some(word) = source.not_read().filter(|_| !options.quiet) {
        let _ = writeln!(anstream::stderr(), "photic: {word}");
    }
    config.upstream.splice(0..0, serve::overriding(&options.upstream).chain(bases.upstreams()));
    base_urls::complete_families(&mut config.upstream)?;
    let mut launch = Launch::new(&options.command);
    bases.set(&mut launch, &config.upstream);
    launch.pass_proxies(|name| environment.get(name));
    if let Some(agent) = &agent {
        let is_openai = |wire| Family::of(wire) == Family::OPENAI;
        let is_flagged = options.upstream.iter().any(|one| one.wire.is_none_or(is_openai));
        agent.prepare(&mut launch, &environment, &bases, is_flagged)?;
    }
    config.upstream.extend(launch.destinations.iter().map(destination::Destination::upstream));
    Ok(Plan { bases, agent, launch, config })
}

/// Starts the gateway, runs the command, and stops the gateway.
async fn with_gateway(options: &RunOptions) -> anyhow::Result<ExitCode> {
    let Plan { bases, agent, mut launch, mut config } = plan(options)?;
    // A report that cannot be written is better known before the command has run.
    let report = options.report.as_deref().map(Report::open).transpose()?;
    config.listen = format!("127.0.0.1:{}", options.port);
    // The terminal belongs to the command, and the gateway has no other operator.
    (config.log, config.admin) = (LogFormat::Off, Admin::default());
    // Only the command knows the token, so no web page or other process can use the gateway.
    let token = token()?;
    let own = launch.destinations.iter().map(destination::Destination::prefix);
    let prefixes = bases.prefixes().chain(own);
    config.prefixes = Some(prefixes.fold(PathPrefixes::new(&token), PathPrefixes::with_name));
    (config.hosts, config.origins) = (Vec::new(), Vec::new());
    // Nor does it need a key of its own, or a certificate.
    (config.callers, config.oidc) = (CallersConfig::default(), OidcConfig::default());
    config.tls = TlsConfig::default();
    serve::record(&mut config, &options.record)?;
    if options.ui {
        config.admin.listen = Some("127.0.0.1:0".to_owned());
        config.inspect = InspectConfig { enabled: true, ..InspectConfig::default() };
    } else {
        config.inspect = InspectConfig::default();
    }
    config.serves = Serves::OneCommand;
    let recorded = recorded_in(&config);
    // Connections of processes left behind are cut; recording may finish.
    config.timeouts.drain_s = config.timeouts.drain_s.min(1);
    let gateway = bind(config, &bases).await?;
    let (address, tally) = (gateway.address(), gateway.tally());
    if let Some(url) = gateway.inspector_url() {
        let _ = writeln!(anstream::stderr(), "photic: watch at {url}");
    }
    let scratch = launch.bind(address, &token).context("cannot write a scratch folder")?;
    for note in launch.notes.iter().filter(|_| !options.quiet) {
        let _ = writeln!(anstream::stderr(), "photic: {note}");
    }
    // From here on, signals are meant for the command.
    let mut signals = child::Signals::new().context("cannot wait for signals")?;
    let mut command = Command::new(launch.program());
    command.args(launch.command.iter().skip(1)).envs(launch.environment.iter().cloned());
    for name in &launch.removed {
        command.env_remove(name);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(cause) => return Ok(cannot_run(launch.program(), cause)),
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(gateway.serve(async {
        let _ = stopped.await;
    }));
    let status =
        child::wait(&mut child, &mut signals).await.context("cannot wait for the command")?;
    drop(stop);
    let _ = serving.await;
    drop(scratch);
    if let Some(report) = report {
        report.write(&summary::report(&tally));
    }
    if !options.quiet {
        let hint = agent.as_ref().map(Recognized::hint);
        // The reader may be gone; the exit code of the command still counts.
        let _ = writeln!(anstream::stderr(), "{}", summary::of(&tally, hint.as_deref(), &recorded));
    }
    Ok(ExitCode::from(child::code(status)))
}

/// The place of the record.
fn recorded_in(config: &Config) -> RecordedIn {
    let directory = config.record.directory.clone();
    let named = |server: &Option<String>| server.as_ref().is_some_and(|one| !one.is_empty());
    if named(&config.fleet.postgres) || named(&config.fleet.bucket) {
        RecordedIn::Fleet
    } else {
        let directory = directory.filter(|path| !path.as_os_str().is_empty());
        directory.map_or(RecordedIn::Nowhere, RecordedIn::Directory)
    }
}

/// The file for counts.
struct Report<'o> {
    path: &'o Path,
    file: File,
}

impl<'o> Report<'o> {
    /// Creates the file.
    fn open(path: &'o Path) -> anyhow::Result<Self> {
        let file = File::create(path);
        let file = file.with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Self { path, file })
    }

    /// Writes the counts. A failure is only reported: the exit code is that of the command.
    fn write(mut self, counts: &serde_json::Value) {
        if let Err(error) = writeln!(self.file, "{counts}") {
            let path = self.path.display();
            let _ = writeln!(anstream::stderr(), "photic: cannot write `{path}`: {error}");
        }
    }
}

/// A random token of 128 bits, as part of a path.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| anyhow::anyhow!("the system has no random numbers"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Starts the gateway; names the variable if it points to the gateway itself.
async fn bind(config: Config, bases: &BaseUrls) -> anyhow::Result<Gateway> {
    match Gateway::bind(config).await {
        Err(StartError::Itself(host)) if let Some(name) = bases.naming(&host) => {
            anyhow::bail!("`{name}` is the address of this gateway itself")
        }
        bound => Ok(bound?),
    }
}

/// Reports a command that cannot be run.
fn cannot_run(program: &OsStr, cause: io::Error) -> ExitCode {
    let code = if cause.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE };
    let program = program.display();
    style::error(&anyhow::Error::new(cause).context(format!("cannot run `{program}`")));
    ExitCode::from(code)
}
