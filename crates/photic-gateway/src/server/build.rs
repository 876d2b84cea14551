//! Builds the parts of a gateway from its settings.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use photic::Policy;
use photic::retention::Retention;
use photic_fleet::{Audit, Fleet, QuotaOptions, Quotas};
use photic_net::Client;
use photic_store::LocalStore;

use super::listener::{self, Listener};
use crate::config::{Config, ConfigError, Policies};
use crate::dispatch::{Dispatcher, ListenerKind, MediaApi, Objects, Openwop, Status};
use crate::http::Bounds;
use crate::learned::Learned;
use crate::media::{Derivatives, MediaCache, MediaLibrary, PixelWork, RemoteMedia};
use crate::memory::{Buffers, MemoryBudget};
use crate::observe::{self, Exporter, Log, Tally, Watchers};
use crate::record::{FleetBackend, LocalBackend, Recorder, StoreBackend};
use crate::tenant::{Admission, Auditing, Callers};
use crate::turn::{Fetcher, Pipeline, Planner, Recall, TurnRecorder, Turns};
use crate::upstream::{Profiles, UpstreamClient, Upstreams, is_itself};

/// An error that keeps a gateway from starting.
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
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// An upstream is the gateway itself.
    #[error("the upstream `{0}` is this gateway itself; name the provider's URL")]
    Itself(String),
    /// Other machines could use the gateway without a key.
    #[error(
        "`{0}` can be reached from other machines, and requests need no key; listen on \
         `127.0.0.1`, require tenant keys (`[fleet] keys = true`), or allow requests without a key \
         (`open = true`, `--open`)"
    )]
    Open(SocketAddr),
    /// The record cannot be opened.
    #[error("cannot open the record")]
    Record(#[from] photic_store::Error),
}

/// The parts of a gateway.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) listener: Listener,
    /// The listener for operators, if they have their own.
    pub(super) admin: Option<Listener>,
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) exporter: Option<Exporter>,
    pub(super) learned: Arc<Learned>,
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) backend: Option<Arc<dyn StoreBackend>>,
    pub(super) buffers: Arc<Buffers>,
    pub(super) tally: Arc<Tally>,
    /// A warning for the operator.
    pub(super) warning: Option<String>,
}

/// The parts that a fleet changes.
#[derive(Debug, Default)]
struct Shared {
    fleet: Option<Fleet>,
    callers: Callers,
    quotas: Option<Quotas>,
    auditing: Option<Auditing>,
}

/// Builds a gateway, and begins to listen.
pub(super) async fn build(config: &Config) -> Result<Parts, StartError> {
    let upstreams = Arc::new(Upstreams::new(&config.upstream)?);
    let policy = policy(&config.policy)?;
    let endpoint = observe::endpoint(&config.telemetry)?;
    let (listener, admin) = listeners(config, &upstreams).await?;
    let (spans, exporter) =
        endpoint.map(|endpoint| Exporter::new(endpoint, &config.telemetry)).unzip();
    let watchers = Watchers::new(Log::new(config.log, io::stderr()), spans);
    let Shared { fleet, callers, quotas, auditing } = shared(config)?;
    let (learned, mut warning) = learned(config, fleet.as_ref());
    if callers.requires_keys() && admin.is_none() {
        let hidden = "`/metrics` is not answered if tenant keys are required; set `admin.listen`";
        warning = Some(warning.map_or(hidden.to_owned(), |other| format!("{other}; {hidden}")));
    }
    // In a fleet the next request may reach another process, which does not have the objects.
    let objects = if fleet.is_none() { Some(Objects::new()?) } else { None };
    let backend = backend(config, fleet)?;
    let recorder = backend
        .as_ref()
        .map(|backend| Arc::new(Recorder::new(Arc::clone(backend), &config.record)));

    let memory = MemoryBudget::new(config.limits.memory_mib());
    let picture_bytes = memory.cache(config.limits.pictures_mib);
    let cache = Arc::new(MediaCache::new(picture_bytes, memory.cache(16)));
    let buffers = Buffers::within(&memory);
    let remote = RemoteMedia::new(&config.fetch, memory.cache(config.fetch.keep_mib));
    let admission = Arc::new(Admission::new(callers, quotas, auditing, memory));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let pixels = Arc::new(PixelWork::new(processors, seconds(config.timeouts.pixels_s)));
    let client = Arc::new(client(config));
    let tally: Arc<Tally> = Arc::default();
    let library = backend.as_ref().map(|backend| {
        let max_lifetime = Duration::from_hours(24 * u64::from(config.fleet.days.max(1)));
        let (backend, cache) = (Arc::clone(backend), Arc::clone(&cache));
        Arc::new(MediaLibrary::new(backend, cache, Arc::clone(&admission), max_lifetime))
    });
    let pipeline = Arc::new(Pipeline {
        planner: Planner {
            upstreams: Arc::clone(&upstreams),
            policy,
            profiles: Profiles::default(),
            learned: Arc::clone(&learned),
        },
        fetcher: Fetcher { remote, cache: Arc::clone(&cache), backend: backend.clone() },
        derivatives: Derivatives::new(picture_bytes),
        details: watchers.want_details(),
        records: recorder.is_some(),
    });
    let turns = Turns {
        buffers: Arc::clone(&buffers),
        recall: recorder.clone().zip(backend.clone()).map(|(recorder, backend)| Recall {
            recorder,
            backend,
            cache,
        }),
        pipeline: Arc::clone(&pipeline),
        pixels: Arc::clone(&pixels),
        client: Arc::clone(&client),
        recorder: recorder.clone().map(|recorder| TurnRecorder {
            recorder,
            pipeline: Arc::clone(&pipeline),
            pixels: Arc::clone(&pixels),
        }),
        admission: Arc::clone(&admission),
        tally: Arc::clone(&tally),
    };
    let stopping: Arc<AtomicBool> = Arc::default();
    let dispatcher = Arc::new(Dispatcher {
        prefixes: config.prefixes.clone(),
        watchers: Arc::new(watchers),
        status: Status {
            stopping: Arc::clone(&stopping),
            admission: Arc::clone(&admission),
            pipeline,
            pixels,
            recorder: recorder.clone(),
            backend: backend.clone(),
        },
        upstreams,
        media: MediaApi {
            library: library.clone(),
            admission: Arc::clone(&admission),
            client: Arc::clone(&client),
            buffers: Arc::clone(&buffers),
        },
        admission,
        client,
        turns,
        openwop: Openwop::new(config, objects, library)?,
        stopping,
    });
    Ok(Parts {
        listener,
        admin,
        dispatcher,
        exporter,
        learned,
        recorder,
        backend,
        buffers,
        tally,
        warning,
    })
}

/// Begins to listen for clients, and for operators if they have their own address.
async fn listeners(
    config: &Config,
    upstreams: &Upstreams,
) -> Result<(Listener, Option<Listener>), StartError> {
    let has_admin = config.admin.listen.is_some();
    let kind = if has_admin { ListenerKind::Public } else { ListenerKind::Both };
    let listener = bind(&config.listen, kind, config).await?;
    let address = listener.address();
    let is_near = address.ip().to_canonical().is_loopback();
    if !is_near && !config.open && !config.fleet.asks_for_keys() {
        return Err(StartError::Open(address));
    }
    let admin = match &config.admin.listen {
        None => None,
        Some(address) => Some(bind(address, ListenerKind::Admin, config).await?),
    };
    for upstream in upstreams.iter() {
        if is_itself(upstream, address).await {
            return Err(StartError::Itself(upstream.host().to_owned()));
        }
    }
    Ok((listener, admin))
}

async fn bind(address: &str, kind: ListenerKind, config: &Config) -> Result<Listener, StartError> {
    let failed = |cause| StartError::Listen { address: address.to_owned(), cause };
    listener::bind(address, kind, config).await.map_err(failed)
}

/// Opens the servers of a fleet, if they are configured.
fn shared(config: &Config) -> Result<Shared, StartError> {
    let Some(fleet) = config.fleet.open()? else { return Ok(Shared::default()) };
    let callers = match config.fleet.keys {
        true => Callers::by_key(fleet.record.clone()),
        false => Callers::default(),
    };
    let options = QuotaOptions { defaults: config.quota.limits(), ..QuotaOptions::default() };
    let quotas = Quotas::new(fleet.record.clone(), options)?;
    let auditing = Auditing::new(Audit::new(fleet.record.clone()));
    Ok(Shared { fleet: Some(fleet), callers, quotas: Some(quotas), auditing: Some(auditing) })
}

/// Opens the lessons: in the fleet's database, or in a file.
fn learned(config: &Config, fleet: Option<&Fleet>) -> (Arc<Learned>, Option<String>) {
    let file = config.learned.file().filter(|_| fleet.is_none());
    let (learned, warning) = Learned::open(file, config.learned.days);
    let learned = match fleet {
        Some(fleet) => learned.shared_in(fleet.record.clone()),
        None => learned,
    };
    (Arc::new(learned), warning)
}

/// Opens the store on the fleet's servers or in a directory, if one is configured.
fn backend(
    config: &Config,
    fleet: Option<Fleet>,
) -> Result<Option<Arc<dyn StoreBackend>>, StartError> {
    Ok(match (fleet, config.record.directory()) {
        (Some(fleet), _) => Some(Arc::new(FleetBackend::new(fleet))),
        (None, Some(directory)) => {
            Some(Arc::new(LocalBackend(Arc::new(LocalStore::open(directory)?))))
        }
        (None, None) => None,
    })
}

fn client(config: &Config) -> UpstreamClient {
    let client = Client::new(photic_net::Timeouts {
        connect: seconds(config.timeouts.connect_s),
        answer: seconds(config.timeouts.answer_s),
        ..photic_net::Timeouts::default()
    });
    let bytes = u64::from(config.limits.body_mib) << 20;
    UpstreamClient::new(client, Bounds { bytes, idle: seconds(config.timeouts.idle_s) })
}

pub(super) fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

fn policy(settings: &Policies) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    policy.retention =
        Retention::from_name(&settings.retention).ok_or_else(|| ConfigError::Value {
            key: "policy.retention".to_owned(),
            problem: format!(
                "unknown policy `{}`; use one of {}",
                settings.retention,
                Retention::NAMES.join(", ")
            ),
        })?;
    policy.floor = settings.keep;
    policy.marks = settings.marks;
    policy.pixels = true;
    Ok(policy)
}
