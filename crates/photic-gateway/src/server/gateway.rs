//! A gateway that listens, serves, and lets running requests finish when it stops.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use photic_store::{Events, History, Tenant};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::build::{Parts, StartError, build, seconds};
use super::connections::ConnectionPermit;
use super::drain::Drain;
use super::listener::Listener;
use super::live::AnswerReload;
use super::reload::{Load, Reloader};
use crate::config::Config;
use crate::memory::Buffers;
use crate::observe::Tally;

/// Time between two checks for unused memory.
const TRIM_INTERVAL: Duration = Duration::from_secs(5);
/// Time for the last traces to be sent and the last turns to be recorded.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// A gateway that listens.
#[derive(Debug)]
pub struct Gateway {
    parts: Parts,
    reloader: Reloader,
    drain: Duration,
    /// Set if the token of the inspector was made at this start.
    has_own_token: bool,
}

impl Gateway {
    /// Begins to listen. Connections wait until [`Gateway::serve`].
    ///
    /// # Errors
    ///
    /// Fails if a setting cannot be used, an address cannot be listened on, or the store cannot be
    /// opened.
    pub async fn bind(config: Config) -> Result<Self, StartError> {
        // Boxed, because its future is large, and is moved once.
        let parts = Box::pin(build(&config)).await?;
        let has_own_token = config.inspect.token.is_none();
        let reloader = reloader(&parts, None, None);
        Ok(Self { parts, reloader, drain: seconds(config.timeouts.drain_s), has_own_token })
    }

    /// Reads the settings with `load` when they are to be reloaded. `file` is the one that they are
    /// in, and is watched if the settings say so (`reload.watch_s`).
    #[must_use]
    pub fn reload_from(
        mut self,
        file: Option<PathBuf>,
        load: impl Fn() -> Result<Config, String> + Send + Sync + 'static,
    ) -> Self {
        self.reloader = reloader(&self.parts, file, Some(Box::new(load)));
        self
    }

    /// Returns what reloads the settings while the gateway serves.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Writes the log to `sink` instead of standard error.
    #[must_use]
    pub fn log_to(self, sink: impl io::Write + Send + 'static) -> Self {
        self.parts.kept.watchers.log.write_to(sink);
        self
    }

    /// Returns the address for operators: `/health`, `/ready` and `/metrics`.
    pub fn admin_address(&self) -> SocketAddr {
        self.parts.admin.as_ref().unwrap_or(&self.parts.listener).address()
    }

    /// Returns a warning for the operator, for example that lessons cannot be kept.
    pub fn warning(&self) -> Option<&str> {
        self.parts.warning.as_deref()
    }

    /// Returns the address of the inspector, if it is enabled: with its token if that was made at this
    /// start, and otherwise without it.
    pub fn inspector_url(&self) -> Option<String> {
        let inspector = self.parts.kept.inspector.as_ref()?;
        if self.has_own_token {
            return Some(inspector.url());
        }
        Some(format!("http://{}/inspect/", self.admin_address()))
    }

    /// Returns the address for clients.
    pub const fn address(&self) -> SocketAddr {
        self.parts.listener.address()
    }

    /// Returns counts of what the gateway does from now on.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.parts.kept.watchers.tally)
    }

    /// Returns the recorded sessions of a tenant, for programs that show them. `None` if sessions are
    /// not recorded. Take it before [`Gateway::serve`].
    pub fn history(&self, tenant: &Tenant) -> Option<Arc<dyn History>> {
        Some(self.parts.kept.backend.as_ref()?.history(tenant))
    }

    /// Returns the news of the record, for programs that show sessions. `None` if sessions are not
    /// recorded.
    pub fn events(&self) -> Option<Events> {
        Some(self.parts.kept.recorder.as_ref()?.events.clone())
    }

    /// Serves until `stop` is done, then lets running requests finish for the configured time.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let (reloader, Parts { listener, admin, live, kept, exporter, .. }) =
            (self.reloader, self.parts);
        let drain = Drain::new();
        let answers: Arc<dyn AnswerReload> = Arc::new(reloader.clone());
        let (stop_exporting, told) = oneshot::channel();
        kept.watchers.log.write_to(io::stderr());
        let watchers = Arc::clone(&kept.watchers);
        let exporter = exporter.map(|exporter| {
            tokio::spawn(async move { exporter.run(&watchers.metrics, &watchers.log, told).await })
        });
        let trimmer = tokio::spawn(trim(Arc::clone(&kept.buffers)));
        let files = {
            let reloader = reloader.clone();
            tokio::spawn(async move { reloader.watch().await })
        };
        let learned = Arc::clone(&kept.learned);
        let watcher = kept.backend.clone().map(|backend| {
            tokio::spawn(async move {
                tokio::join!(backend.watch_servers(), learned.keep_up());
            })
        });
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                (listener, accepted) = accept(&listener, admin.as_ref()) => {
                    listener.serve(accepted, &live, &answers, Some(&drain));
                }
                () = &mut stop => break,
            }
        }
        files.abort();
        kept.stopping.store(true, Ordering::Relaxed);
        let dispatcher = Arc::clone(&live.current().dispatcher);
        // Requests that are not done by then are cut off. New requests get 503, on connections that
        // are not waited for.
        dispatcher.sockets.stop();
        if let Some(inspector) = &kept.inspector {
            inspector.stop();
        }
        let drained = async { tokio::join!(drain.finish(), dispatcher.sockets.closed()) };
        let drained = tokio::time::timeout(self.drain, drained);
        let mut drained = std::pin::pin!(drained);
        loop {
            tokio::select! {
                (listener, accepted) = accept(&listener, admin.as_ref()) => {
                    listener.serve(accepted, &live, &answers, None);
                }
                _ = &mut drained => break,
            }
        }
        // From here on no connection is accepted.
        drop((listener, admin));
        dispatcher.sockets.cut();
        let _ = tokio::time::timeout(FINISH_TIMEOUT, dispatcher.sockets.closed()).await;
        trimmer.abort();
        if let Some(watcher) = watcher {
            watcher.abort();
        }
        if let Some(recorder) = &kept.recorder {
            recorder.finish(FINISH_TIMEOUT).await;
        }
        let _ = stop_exporting.send(());
        if let Some(exporter) = exporter {
            let _ = tokio::time::timeout(FINISH_TIMEOUT, exporter).await;
        }
        kept.watchers.log.flush();
        if let Some(usage_log) = &kept.watchers.usage_log {
            usage_log.flush();
        }
    }
}

/// Returns what reloads the settings of a gateway.
fn reloader(parts: &Parts, file: Option<PathBuf>, load: Option<Load>) -> Reloader {
    Reloader::new(&parts.live, &parts.kept, parts.certificate.as_ref(), (file, load))
}

/// Waits for the next connection, and returns it with the listener that accepted it.
async fn accept<'l>(
    listener: &'l Listener,
    admin: Option<&'l Listener>,
) -> (&'l Listener, (TcpStream, ConnectionPermit)) {
    let operators = async {
        match admin {
            None => std::future::pending().await,
            Some(admin) => (admin, admin.accept().await),
        }
    };
    tokio::select! {
        accepted = listener.accept() => (listener, accepted),
        accepted = operators => accepted,
    }
}

/// Frees unused buffers periodically. Never returns.
async fn trim(buffers: Arc<Buffers>) {
    let mut ticks = tokio::time::interval(TRIM_INTERVAL);
    loop {
        ticks.tick().await;
        buffers.trim();
    }
}
