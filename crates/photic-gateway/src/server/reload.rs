//! Replaces the settings of a gateway while it serves, whole or not at all.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;

use super::build::{SharedParts, StartError, rebuild};
use super::live::{AnswerReload, Live};
use super::tls::{Certificate, FileState};
use crate::config::Config;
use crate::future::BoxFuture;
use crate::http::ReplyBody;

/// Reads the settings again. The error is a sentence for the operator.
pub(super) type Load = Box<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// An error that keeps settings from being replaced. The former ones still hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The gateway does not know where its settings come from.
    #[error("the settings of this gateway cannot be read again; restart it")]
    NoSource,
    /// The settings cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A setting that was changed holds from the start of the gateway to its end.
    #[error(
        "`{0}` has changed, and holds until the gateway is restarted; restart it, or undo that"
    )]
    Fixed(&'static str),
    /// A setting cannot be used.
    #[error("{}", with_causes(.0))]
    Wrong(#[from] StartError),
    /// The usage log cannot be opened.
    #[error("cannot open `callers.usage_log`: {0}")]
    UsageLog(#[source] std::io::Error),
}

/// Replaces the settings of a gateway while it serves.
#[derive(Clone)]
pub struct Reloader(Arc<Inner>);

struct Inner {
    live: Arc<Live>,
    kept: Arc<SharedParts>,
    certificate: Option<Arc<Certificate>>,
    load: Option<Load>,
    /// The settings file.
    file: Option<PathBuf>,
    /// One at a time.
    reloading: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for Reloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloader").field("file", &self.0.file).finish_non_exhaustive()
    }
}

impl Reloader {
    pub(super) fn new(
        live: &Arc<Live>,
        kept: &Arc<SharedParts>,
        certificate: Option<&Arc<Certificate>>,
        source: (Option<PathBuf>, Option<Load>),
    ) -> Self {
        let (file, load) = source;
        Self(Arc::new(Inner {
            live: Arc::clone(live),
            kept: Arc::clone(kept),
            certificate: certificate.map(Arc::clone),
            load,
            file,
            reloading: tokio::sync::Mutex::default(),
        }))
    }

    /// Reads the settings again and uses them for all requests that begin from now on. Running requests
    /// end with the settings that they began with. Writes to the log what came of it.
    ///
    /// # Errors
    ///
    /// Fails if a setting is wrong, or has changed and holds until a restart. Nothing is changed then.
    pub async fn reload(&self) -> Result<(), ReloadError> {
        let _one = self.0.reloading.lock().await;
        let reloaded = self.0.reload().await;
        let watchers = &self.0.kept.watchers;
        let lost = &watchers.metrics.lines_dropped;
        match &reloaded {
            Ok(()) => {
                watchers.metrics.reloads[0].add(1);
                watchers.log.tell("reloaded", "the settings were reloaded", lost);
            }
            Err(error) => {
                watchers.metrics.reloads[1].add(1);
                let says = format!("the settings were not reloaded, the former ones hold: {error}");
                watchers.log.tell("reload_refused", &says, lost);
            }
        }
        reloaded
    }

    /// Reloads the settings whenever their files change, and the certificate whenever its files do.
    /// Never returns.
    pub(super) async fn watch(&self) {
        let config = self.0.live.current().config.clone();
        let settings = async {
            let Some(every) = interval(config.reload.watch_s) else { return };
            let mut before = FileState::of(&self.0.files());
            loop {
                tokio::time::sleep(every).await;
                let now = FileState::of(&self.0.files());
                if now != before {
                    before = now;
                    let _ = self.reload().await;
                }
            }
        };
        let certificate = async {
            let Some(every) = interval(config.tls.watch_s) else { return };
            let Some(certificate) = &self.0.certificate else { return };
            let files = certificate.files();
            let mut before = FileState::of(&files);
            loop {
                tokio::time::sleep(every).await;
                let now = FileState::of(&files);
                // Half of a pair may be written. It is looked at again until both fit.
                if now != before && self.0.read_certificate() {
                    before = now;
                }
            }
        };
        tokio::join!(settings, certificate);
    }
}

impl AnswerReload for Reloader {
    fn answer(&self) -> BoxFuture<'_, Response<ReplyBody>> {
        Box::pin(async move {
            let (status, body) = match self.reload().await {
                Ok(()) => (StatusCode::OK, json!({"status": "reloaded"})),
                Err(error) => {
                    let body = json!({"status": "refused", "problem": error.to_string()});
                    (StatusCode::CONFLICT, body)
                }
            };
            let mut response = Response::new(ReplyBody::whole(body.to_string()));
            *response.status_mut() = status;
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
            response
        })
    }
}

impl Inner {
    /// Returns the files that the settings are in.
    fn files(&self) -> Vec<PathBuf> {
        let callers = self.live.current().config.callers.file().cloned();
        self.file.iter().cloned().chain(callers).collect()
    }

    async fn reload(&self) -> Result<(), ReloadError> {
        let load = self.load.as_ref().ok_or(ReloadError::NoSource)?;
        let config = load().map_err(ReloadError::Unreadable)?;
        let before = self.live.current();
        if let Some(fixed) = fixed(&before.config, &config) {
            return Err(ReloadError::Fixed(fixed));
        }
        let served = rebuild(&self.kept, config, &before).await?;
        let certificate = self.certificate.as_ref().map(|one| one.read()).transpose();
        let certificate = certificate.map_err(StartError::Config)?;
        if let Some(usage_log) = &self.kept.watchers.usage_log {
            usage_log.reopen().map_err(ReloadError::UsageLog)?;
        }
        // From here on nothing fails.
        if let Some((own, new)) = self.certificate.as_ref().zip(certificate) {
            own.replace(new);
        }
        self.live.replace(served);
        Ok(())
    }

    /// Reads the certificate again. Returns `true` if it can be used.
    fn read_certificate(&self) -> bool {
        let Some(own) = &self.certificate else { return true };
        let watchers = &self.kept.watchers;
        let lost = &watchers.metrics.lines_dropped;
        match own.read() {
            Ok(new) => {
                own.replace(new);
                watchers.log.tell("certificate", "the certificate was replaced", lost);
                true
            }
            Err(error) => {
                let says =
                    format!("the certificate was not replaced, the former one holds: {error}");
                watchers.log.warn(&says, lost);
                false
            }
        }
    }
}

/// Returns the name of a setting that has changed and holds until a restart.
fn fixed(old: &Config, new: &Config) -> Option<&'static str> {
    let limits = crate::config::Limits {
        body_mib: old.limits.body_mib,
        upload_mib: old.limits.upload_mib,
        ..new.limits
    };
    let timeouts = crate::config::Timeouts {
        connect_s: old.timeouts.connect_s,
        answer_s: old.timeouts.answer_s,
        ..new.timeouts
    };
    let changed = [
        ("listen", old.listen != new.listen),
        ("open", old.open != new.open),
        ("h2c", old.h2c != new.h2c),
        ("log", old.log != new.log),
        ("admin", old.admin != new.admin),
        ("inspect", old.inspect != new.inspect),
        // The inspector checks them by its own rules.
        ("hosts", new.inspect.enabled && old.hosts != new.hosts),
        ("tls", old.tls != new.tls),
        ("reload", old.reload != new.reload),
        ("telemetry", old.telemetry != new.telemetry),
        ("limits", old.limits != limits),
        ("timeouts", old.timeouts != timeouts),
        ("learned", old.learned != new.learned),
        ("fetch", old.fetch != new.fetch),
        ("record", old.record != new.record),
        ("fleet", old.fleet != new.fleet),
        ("quota", old.quota != new.quota),
        ("openwop", old.openwop != new.openwop),
        ("callers.meters", old.callers.meters() != new.callers.meters()),
        ("callers.usage_log", old.callers.usage_log() != new.callers.usage_log()),
    ];
    changed.iter().find(|(_, has_changed)| *has_changed).map(|(name, _)| *name)
}

fn interval(seconds: u32) -> Option<Duration> {
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// Returns an error with its causes in one sentence.
fn with_causes(error: &StartError) -> String {
    let mut says = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !says.contains(&more) {
            says = format!("{says}: {more}");
        }
        cause = error.source();
    }
    says
}
