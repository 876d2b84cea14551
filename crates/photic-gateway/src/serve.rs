//! The door: connections are taken, served, and let finish when the gateway is told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use photic::Policy;
use photic::retention::Retention;
use photic_fleet::{Audit, QuotaOptions, Quotas};
use photic_net::Client;
use photic_store::LocalStore;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::auditing::Auditing;
use crate::buffers::Buffers;
use crate::config::{Config, ConfigError, LogFormat, Policies};
use crate::derivatives::Derivatives;
use crate::fetching::Fetching;
use crate::fix::Pipeline;
use crate::intake::Bounds;
use crate::itself::is_itself;
use crate::learned::Learned;
use crate::listen::{self, ConnectionPermit, Listener};
use crate::media::MediaCache;
use crate::memory::{CallerIds, MemoryBudget};
use crate::openwop::{Objects, Openwop};
use crate::pixel_work::PixelWork;
use crate::profiles::Profiles;
use crate::proxy::{ListenerKind, Proxy};
use crate::record::{self, Recorder};
use crate::tally::Tally;
use crate::telemetry::{self, Exporter, Log, Watchers};
use crate::tenancy::Tenancy;
use crate::upstream::Upstreams;

/// How often unused memory is given back.
const SWEEP: Duration = Duration::from_secs(5);
/// How long the last traces may take to leave, and the last turns to be kept.
const FAREWELL: Duration = Duration::from_secs(3);

/// A gateway that listens.
#[derive(Debug)]
pub struct Gateway {
    listener: Listener,
    /// Where operators come in, if not by the same door.
    admin: Option<Listener>,
    proxy: Arc<Proxy>,
    exporter: Option<Exporter>,
    log: LogFormat,
    drain: Duration,
    word: Option<String>,
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// An upstream is the gateway.
    #[error("the upstream `{0}` is this gateway itself")]
    Itself(String),
    /// Anybody could use it.
    #[error(
        "`{0}` can be reached from other machines, and callers show no keys: listen on 127.0.0.1, \
         give callers keys (`[fleet] keys = true`), or say that anybody may use it (`open = true`, \
         `--open`)"
    )]
    Open(SocketAddr),
    /// The record cannot be opened.
    #[error("cannot keep a record")]
    Record(#[from] photic_store::Error),
}

impl Gateway {
    /// Begins to listen; connections wait until [`Gateway::serve`].
    pub async fn bind(config: Config) -> Result<Self, StartError> {
        let upstreams = Upstreams::new(&config.upstream)?;
        let policy = policy(&config.policy)?;
        let endpoint = telemetry::endpoint(&config.telemetry)?;
        let door =
            if config.admin.listen.is_some() { ListenerKind::Public } else { ListenerKind::Both };
        let listener = bind(&config.listen, door, &config).await?;
        let address = listener.address();
        let is_near = address.ip().to_canonical().is_loopback();
        if !is_near && !config.open && !config.fleet.asks_for_keys() {
            return Err(StartError::Open(address));
        }
        let admin = match &config.admin.listen {
            None => None,
            Some(address) => Some(bind(address, ListenerKind::Admin, &config).await?),
        };
        for upstream in upstreams.iter() {
            if is_itself(upstream, address).await {
                return Err(StartError::Itself(upstream.host().to_owned()));
            }
        }
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let client = Client::new(photic_net::Timeouts {
            connect: seconds(config.timeouts.connect_s),
            answer: seconds(config.timeouts.answer_s),
            ..photic_net::Timeouts::default()
        });
        let (spans, exporter) =
            endpoint.map(|endpoint| Exporter::new(endpoint, &config.telemetry)).unzip();
        let watchers = Arc::new(Watchers::new(Log::new(config.log, io::stderr()), spans));
        let fleet = config.fleet.open()?;
        let file = config.learned.file().filter(|_| fleet.is_none());
        let (mut learned, mut word) = Learned::open(file, config.learned.days);
        if let Some(fleet) = &fleet {
            learned = learned.shared_in(fleet.record.clone());
        }
        let tenancy = match &fleet {
            Some(fleet) if config.fleet.keys => Tenancy::by_key(fleet.record.clone()),
            Some(_) | None => Tenancy::default(),
        };
        if tenancy.asks_for_keys() && admin.is_none() {
            let hidden = "`/metrics` is not answered where callers have keys: set `admin.listen`";
            word = Some(word.map_or(hidden.to_owned(), |word| format!("{word}; {hidden}")));
        }
        let quotas = match &fleet {
            Some(fleet) => {
                let defaults = config.quota.limits();
                let options = QuotaOptions { defaults, ..QuotaOptions::default() };
                Some(Quotas::new(fleet.record.clone(), options)?)
            }
            None => None,
        };
        // Objects of a process of many would not be there on the next request.
        let objects = if fleet.is_none() { Some(Objects::new()?) } else { None };
        let openwop = Openwop::new(&config, objects)?;
        let auditing = fleet.as_ref().map(|fleet| Auditing::new(Audit::new(fleet.record.clone())));
        let place = match (fleet, config.record.directory()) {
            (Some(fleet), _) => Some(record::StoreBackend::Fleet(fleet, Arc::default())),
            (None, Some(directory)) => {
                Some(record::StoreBackend::Local(Arc::new(LocalStore::open(directory)?)))
            }
            (None, None) => None,
        };
        let recorder = place.map(|place| Recorder::new(place, &config.record));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = MemoryBudget::new(config.limits.memory_mib());
        let pictures = memory.cache(config.limits.pictures_mib);
        let proxy = Arc::new(Proxy {
            client,
            tenancy,
            quotas,
            auditing,
            openwop,
            media_lasts: Duration::from_hours(24 * u64::from(config.fleet.days.max(1))),
            workshop: Pipeline {
                upstreams,
                policy,
                profiles: Profiles::default(),
                derivatives: Derivatives::new(pictures),
                details: watchers.want_details(),
                learned,
                fetching: Fetching::new(&config.fetch, memory.cache(config.fetch.keep_mib)),
                recorder,
                shelf: MediaCache::new(pictures, memory.cache(16)),
            },
            buffers: Buffers::within(&memory),
            bounds: Bounds {
                bytes: u64::from(config.limits.body_mib) << 20,
                idle: seconds(config.timeouts.idle_s),
            },
            memory,
            caller_ids: CallerIds::default(),
            pixels: PixelWork::new(processors, seconds(config.timeouts.pixels_s)),
            stopping: AtomicBool::new(false),
            prefixes: config.prefixes.clone(),
            watchers,
            tally: Arc::default(),
        });
        let (log, drain) = (config.log, seconds(config.timeouts.drain_s));
        Ok(Self { listener, admin, proxy, exporter, log, drain, word })
    }

    /// Writes the log there, instead of to standard error.
    #[must_use]
    pub fn log_to(mut self, sink: impl io::Write + Send + 'static) -> Self {
        let proxy = Arc::get_mut(&mut self.proxy);
        // Nobody else has them before it serves.
        if let Some(watchers) = proxy.and_then(|proxy| Arc::get_mut(&mut proxy.watchers)) {
            watchers.log = Log::new(self.log, sink);
        }
        self
    }

    /// The address that operators use: `/health`, `/ready` and `/metrics`.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.as_ref().unwrap_or(&self.listener).address()
    }

    /// What its operator should know: what was learned earlier cannot be read, or not be kept.
    pub fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// The address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What it does from now on, in counts.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.proxy.tally)
    }

    /// Serves until `stop` is done, then lets what is under way finish, as long as configured.
    pub async fn serve(mut self, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let (stop_exporting, told) = oneshot::channel();
        let watchers = Arc::clone(&self.proxy.watchers);
        let exporter = self.exporter.take();
        let exporter = exporter
            .map(|exporter| tokio::spawn(async move { exporter.run(&watchers, told).await }));
        let sweeper = tokio::spawn(sweep(Arc::clone(&self.proxy.buffers)));
        let asker = self.proxy.workshop.recorder.as_ref().and_then(|recorder| {
            let record::StoreBackend::Fleet(fleet, away) = &recorder.place else { return None };
            let (away, fleet) = (Arc::clone(away), fleet.clone());
            let proxy = Arc::clone(&self.proxy);
            Some(tokio::spawn(async move {
                tokio::join!(away.watch(fleet), proxy.workshop.learned.keep_up());
            }))
        });
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                (listener, taken) = self.accept() => {
                    listener.serve(taken, &self.proxy, Some(&graceful));
                }
                () = &mut stop => break,
            }
        }
        self.proxy.stopping.store(true, Ordering::Relaxed);
        // What is not done by then is cut off. Whoever comes meanwhile is told so, on a connection
        // that nobody waits for.
        let drained = tokio::time::timeout(self.drain, graceful.shutdown());
        let mut drained = std::pin::pin!(drained);
        loop {
            tokio::select! {
                (listener, taken) = self.accept() => listener.serve(taken, &self.proxy, None),
                _ = &mut drained => break,
            }
        }
        // From here on nobody would be answered.
        drop((self.listener, self.admin));
        sweeper.abort();
        if let Some(asker) = asker {
            asker.abort();
        }
        if let Some(recorder) = &self.proxy.workshop.recorder {
            recorder.finish(FAREWELL).await;
        }
        let _ = stop_exporting.send(());
        if let Some(exporter) = exporter {
            let _ = tokio::time::timeout(FAREWELL, exporter).await;
        }
        self.proxy.watchers.log.flush();
    }

    /// The next connection, and the listener it came to.
    async fn accept(&self) -> (&Listener, (TcpStream, ConnectionPermit)) {
        let operators = async {
            match &self.admin {
                None => std::future::pending().await,
                Some(admin) => (admin, admin.accept().await),
            }
        };
        tokio::select! {
            taken = self.listener.accept() => (&self.listener, taken),
            taken = operators => taken,
        }
    }
}

async fn bind(address: &str, door: ListenerKind, config: &Config) -> Result<Listener, StartError> {
    let failed = |cause| StartError::Listen { address: address.to_owned(), cause };
    listen::bind(address, door, config).await.map_err(failed)
}

/// Gives back what nobody uses.
async fn sweep(buffers: Arc<Buffers>) {
    let mut ticks = tokio::time::interval(SWEEP);
    loop {
        ticks.tick().await;
        buffers.trim();
    }
}

fn policy(settings: &Policies) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    policy.retention =
        Retention::from_name(&settings.retention).ok_or_else(|| ConfigError::Value {
            key: "policy.retention".to_owned(),
            problem: format!("one of {} is wanted", Retention::NAMES.join(", ")),
        })?;
    policy.floor = settings.keep;
    policy.marks = settings.marks;
    policy.pixels = true;
    Ok(policy)
}
