//! `photic serve`: runs the gateway until it is stopped.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_gateway::{
    Config, ExportHeaders, Gateway, LogFormat, Reloader, ResourceAttributes, Telemetry,
    UpstreamConfig,
};
use photic_store::LocalStore;

use crate::arguments::{RecordOptions, ServeOptions};
use crate::settings::{self, Settings, Source};

/// Runs the command.
pub(crate) fn run(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    let settings = settings(options)?;
    raise_open_files();
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    runtime.block_on(serve(settings, options.clone()))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the gateway and serves requests.
async fn serve(Settings { config, source }: Settings, options: ServeOptions) -> anyhow::Result<()> {
    let stop = shutdown_signal()?;
    let log = config.log;
    let scheme = if config.tls.certificate.is_some() { "https" } else { "http" };
    let load = move || {
        let again = settings(&options).map_err(|error| format!("{error:#}"))?;
        Ok(again.config)
    };
    let file = source.path().map(Path::to_owned);
    let gateway = Gateway::bind(config).await?.reload_from(file, load);
    let reloading = tokio::spawn(reload_on_signal(gateway.reloader())?);
    announce(log, scheme, &gateway, &source);
    gateway.serve(stop).await;
    reloading.abort();
    Ok(())
}

/// Reloads the settings whenever the process gets `SIGHUP`. The log says what came of it.
#[cfg(unix)]
fn reload_on_signal(reloader: Reloader) -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hang_up = signal(SignalKind::hangup()).context("cannot wait for signals")?;
    Ok(async move {
        while hang_up.recv().await.is_some() {
            let _ = reloader.reload().await;
        }
    })
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn reload_on_signal(_: Reloader) -> anyhow::Result<impl Future<Output = ()>> {
    Ok(std::future::pending())
}

/// Logs the address of the gateway and the source of its settings. A failure is ignored: the log
/// may have no reader.
fn announce(log: LogFormat, scheme: &str, gateway: &Gateway, source: &Source) {
    let (address, admin) = (gateway.address(), gateway.admin_address());
    let mut lines = Vec::new();
    match log {
        LogFormat::Off => return,
        LogFormat::Text | LogFormat::Combined => {
            lines.push(format!("photic: listening on {scheme}://{address}"));
            if admin != address {
                lines.push(format!("photic: administration on http://{admin}"));
            }
            if let Some(url) = gateway.inspector_url() {
                lines.push(format!("photic: recorded sessions at {url}"));
            }
            lines.push(format!("photic: {source}"));
        }
        LogFormat::Json => {
            let line = serde_json::json!({
                "event": "listening",
                "address": format!("{scheme}://{address}"),
                "admin": format!("{}://{admin}", if admin == address { scheme } else { "http" }),
                "settings": source.path(),
            });
            lines.push(line.to_string());
        }
    }
    for word in source.not_read().into_iter().chain(gateway.warning().map(str::to_owned)) {
        lines.push(match log {
            LogFormat::Json => serde_json::json!({"event": "warning", "says": word}).to_string(),
            LogFormat::Off | LogFormat::Text | LogFormat::Combined => format!("photic: {word}"),
        });
    }
    let _ = writeln!(anstream::stderr(), "{}", lines.join("\n"));
}

/// The settings of `photic serve` with these options, and the settings file as it was written.
pub(crate) fn settings_with_file(
    options: &ServeOptions,
) -> anyhow::Result<(Settings, toml::Table)> {
    let settings = settings(options)?;
    let text = settings.source.path().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    Ok((settings, toml::from_str(&text)?))
}

/// The settings: options override environment variables, which override the file.
fn settings(options: &ServeOptions) -> anyhow::Result<Settings> {
    let mut settings = settings::load(options.config.as_deref())?;
    let config = &mut settings.config;
    config.open |= options.open;
    if let Some(listen) = &options.listen {
        config.listen.clone_from(listen);
    }
    config.upstream.splice(0..0, overriding(&options.upstream));
    if let Some(log) = options.log {
        config.log = log;
    }
    record(config, &options.record)?;
    telemetry(&mut config.telemetry, |name| std::env::var(name).ok())?;
    Ok(settings)
}

/// Upstreams of options, which override those of the settings.
pub(crate) fn overriding(named: &[UpstreamConfig]) -> impl Iterator<Item = UpstreamConfig> {
    named.iter().cloned().map(|one| UpstreamConfig { overrides: true, ..one })
}

/// Sets the directory for recordings, if recording is requested.
pub(crate) fn record(config: &mut Config, options: &RecordOptions) -> anyhow::Result<()> {
    if !options.is_wanted() {
        return Ok(());
    }
    let usual = || {
        LocalStore::usual_directory()
            .context("no state directory on this system; pass `--record --store DIR`")
    };
    let named = options.directory();
    config.record.directory = Some(named.map_or_else(usual, |path| Ok(path.to_owned()))?);
    Ok(())
}

/// Reads the standard environment variables of OpenTelemetry exporters.
fn telemetry(
    settings: &mut Telemetry,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let endpoint = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    if let Some(endpoint) = endpoint.or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT")) {
        settings.otlp = Some(endpoint);
    }
    if let Some(attributes) = variable("OTEL_RESOURCE_ATTRIBUTES") {
        settings.resource = ResourceAttributes::parse(&attributes)
            .context("cannot read `OTEL_RESOURCE_ATTRIBUTES`; expected `key=value,key=value`")?;
    }
    let in_attributes = settings.resource.get("service.name").map(str::to_owned);
    if let Some(service) = variable("OTEL_SERVICE_NAME").or(in_attributes) {
        settings.service = service;
    }
    let headers = variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS");
    if let Some(headers) = headers.or_else(|| variable("OTEL_EXPORTER_OTLP_HEADERS")) {
        // The value is not repeated, since it holds keys.
        settings.headers = ExportHeaders::parse(&headers)
            .context("cannot read the OTLP headers; expected `name=value,name=value`")?;
    }
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        settings.otlp = None;
    }
    Ok(())
}

/// Raises the limit on open files to the system's maximum, since each connection is one. If that
/// fails, fewer connections are accepted.
#[cfg(unix)]
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}

/// Completes when the process is asked to end.
#[cfg(unix)]
pub(crate) fn shutdown_signal() -> anyhow::Result<impl Future<Output = ()>> {
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

/// Completes when the process is asked to end.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn shutdown_signal() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> anyhow::Result<Telemetry> {
        let mut settings =
            Telemetry { otlp: Some("http://file".to_owned()), ..Telemetry::default() };
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name);
        telemetry(&mut settings, |name| find(name).map(|(_, value)| (*value).to_owned()))?;
        Ok(settings)
    }

    #[test]
    fn variables_come_before_the_file() {
        let otlp = |variables: &[(&str, &str)]| from(variables).unwrap().otlp;
        let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://general");
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces/v1/traces");
        assert_eq!(otlp(&[]).as_deref(), Some("http://file"));
        assert_eq!(otlp(&[general]).as_deref(), Some("http://general"));
        assert_eq!(otlp(&[general, traces]).as_deref(), Some("http://traces/v1/traces"));
        assert_eq!(otlp(&[general, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(from(&[("OTEL_SERVICE_NAME", "s")]).unwrap().service, "s");
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,deployment.environment=p");
        let both = from(&[attributes, ("OTEL_SERVICE_NAME", "s")]).unwrap();
        assert_eq!(
            (from(&[attributes]).unwrap().service.as_str(), both.service.as_str()),
            ("a", "s")
        );
        assert_eq!(both.resource.get("deployment.environment"), Some("p"));
        assert!(from(&[("OTEL_RESOURCE_ATTRIBUTES", "x")]).is_err());
        let wrong = from(&[("OTEL_EXPORTER_OTLP_HEADERS", "secret")]).unwrap_err();
        assert!(!format!("{wrong:#}").contains("secret"));
    }
}
