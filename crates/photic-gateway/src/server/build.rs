//! Builds the parts of a gateway from its settings.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use photic::Policy;
use photic::retention::Retention;
use photic_inspector::{Access, Inspector, ServedBy, Service, Token};
use photic_store::{LocalStore, Tenant};

use super::listener::{self, Listener};
use crate::config::{Config, ConfigError, Policies};
use crate::dispatch::{Dispatcher, ListenerKind, MediaApi, Status};
#[cfg(feature = "openwop")]
use crate::dispatch::{Objects, Openwop};
#[cfg(feature = "fleet")]
use crate::fleet::{self, ConnectError, FleetParts};
use crate::http::Bounds;
use crate::learned::Learned;
#[cfg(feature = "fleet")]
use crate::learned::SharedLessons;
use crate::media::{Derivatives, MediaCache, MediaLibrary, PixelWork, RemoteMedia};
use crate::memory::{Buffers, MemoryBudget};
use crate::observe::{self, Exporter, Log, Tally, Watchers};
use crate::record::{LocalBackend, Recorder, StoreBackend};
use crate::socket::Sockets;
use crate::tenant::{Admission, Auditing, Callers, Quota};
use crate::turn::{Conversations, Fetcher, Pipeline, Planner, Recall, TurnRecorder, Turns};
use crate::upstream::{Profiles, UpstreamClient, Upstreams, is_itself, shared_client, timeouts};

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

/// The parts that a fleet provides, where there is one.
#[derive(Debug, Default)]
struct Shared {
    callers: Callers,
    quotas: Option<Box<dyn Quota>>,
    auditing: Option<Auditing>,
    backend: Option<Arc<dyn StoreBackend>>,
    #[cfg(feature = "fleet")]
    lessons: Option<Arc<dyn SharedLessons>>,
}

/// Builds a gateway, and begins to listen.
pub(super) async fn build(config: &Config) -> Result<Parts, StartError> {
    let upstreams = Arc::new(Upstreams::of(config)?);
    let policy = policy(&config.policy)?;
    let (watchers, exporter) = watchers(config)?;
    let (listener, admin) = listeners(config, &upstreams).await?;
    let shared = shared(config)?;
    #[cfg(feature = "openwop")]
    let is_fleet = shared.backend.is_some();
    let (learned, warning) = learned(config, &shared);
    let Shared { callers, quotas, auditing, backend, .. } = shared;
    let hides_metrics = callers.requires_keys() && admin.is_none();
    let warning = if hides_metrics { Some(hidden_metrics(warning)) } else { warning };
    #[cfg(not(feature = "openwop"))]
    refuse_openwop(config)?;
    // In a fleet the next request may reach another process, which does not have the objects.
    #[cfg(feature = "openwop")]
    let objects = if is_fleet { None } else { Some(Objects::new()?) };
    let backend = backend.map_or_else(|| local_backend(config), |backend| Ok(Some(backend)))?;
    let recorder =
        backend.clone().map(|one| Arc::new(Recorder::new(one, &config.record, config.serves)));

    let memory = MemoryBudget::new(config.limits.memory_mib());
    let picture_bytes = memory.cache(config.limits.pictures_mib);
    let cache = Arc::new(MediaCache::new(picture_bytes, memory.cache(16)));
    let buffers = Buffers::within(&memory);
    let remote = RemoteMedia::new(&config.fetch, memory.cache(config.fetch.keep_mib));
    let conversations = conversations(config, &memory);
    let admission = Arc::new(Admission::new(callers, quotas, auditing, memory));
    let pixels = pixel_work(config);
    let client = Arc::new(client(config)?);
    let tally = Arc::clone(&watchers.tally);
    let library = library(config, backend.as_ref(), &cache, &admission);
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
        serves: config.serves,
    });
    let recorder = recorder.zip(backend.clone());
    let turns = Arc::new(Turns {
        buffers: Arc::clone(&buffers),
        conversations: conversations.clone(),
        recall: recorder.clone().map(|(recorder, backend)| Recall { recorder, backend, cache }),
        pipeline: Arc::clone(&pipeline),
        pixels: Arc::clone(&pixels),
        client: Arc::clone(&client),
        recorder: turn_recorder(recorder.as_ref(), (&pipeline, &pixels), &tally),
        admission: Arc::clone(&admission),
        tally: Arc::clone(&tally),
    });
    let recorder = recorder.map(|(recorder, _)| recorder);
    let inspector = inspector(config, admin.as_ref(), backend.as_ref(), recorder.as_ref())?;
    let stopping: Arc<AtomicBool> = Arc::default();
    let sockets = Sockets::new(&turns, &upstreams, &client, &admission);
    let dispatcher = Arc::new(Dispatcher {
        prefixes: config.prefixes.clone(),
        watchers: Arc::new(watchers),
        status: Status {
            stopping: Arc::clone(&stopping),
            admission: Arc::clone(&admission),
            pipeline,
            conversations,
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
        sockets,
        inspector,
        #[cfg(feature = "openwop")]
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

/// Creates the inspector, if it is enabled.
fn inspector(
    config: &Config,
    admin: Option<&Listener>,
    backend: Option<&Arc<dyn StoreBackend>>,
    recorder: Option<&Arc<Recorder>>,
) -> Result<Option<Service>, StartError> {
    let settings = &config.inspect;
    if !settings.enabled {
        return Ok(None);
    }
    let refuse = |key: &str, problem: &str| {
        StartError::Config(ConfigError::Value { key: key.to_owned(), problem: problem.to_owned() })
    };
    let admin = admin.ok_or_else(|| {
        let problem = "the inspector is served on the listener for operators; set `admin.listen`";
        refuse("inspect.enabled", problem)
    })?;
    let (Some(backend), Some(recorder)) = (backend, recorder) else {
        let problem =
            "there are no sessions to show; set `record.directory`, or the servers of a fleet";
        return Err(refuse("inspect.enabled", problem));
    };
    let address = admin.address();
    let token = match settings.token.as_deref() {
        Some(text) => {
            Token::new(text).map_err(|weak| refuse("inspect.token", &weak.to_string()))?
        }
        None if !address.ip().to_canonical().is_loopback() => {
            let problem = "other machines can reach `admin.listen`; set a token of 128 bits, such as \
                 from `openssl rand -hex 16`";
            return Err(refuse("inspect.token", problem));
        }
        None => Token::random().ok_or_else(|| {
            refuse("inspect.token", "the system has no random numbers; set a token")
        })?,
    };
    let tenant = settings.tenant.as_ref().map_or_else(Tenant::local, Tenant::new);
    let inspector = Inspector::new(backend.history(&tenant), ServedBy::Gateway)
        .with_events(recorder.events.clone(), tenant);
    Ok(Some(Service::new(inspector, Access::new(token, address, &config.hosts))))
}

fn turn_recorder(
    recorder: Option<&(Arc<Recorder>, Arc<dyn StoreBackend>)>,
    (pipeline, pixels): (&Arc<Pipeline>, &Arc<PixelWork>),
    tally: &Arc<Tally>,
) -> Option<TurnRecorder> {
    let recorder = Arc::clone(&recorder?.0);
    let (pipeline, pixels, tally) = (Arc::clone(pipeline), Arc::clone(pixels), Arc::clone(tally));
    Some(TurnRecorder { recorder, pipeline, pixels, tally })
}

/// Adds a warning that nobody can read the metrics.
fn hidden_metrics(warning: Option<String>) -> String {
    let hidden = "`/metrics` is not answered if tenant keys are required; set `admin.listen`";
    warning.map_or(hidden.to_owned(), |other| format!("{other}; {hidden}"))
}

/// Creates the cache of conversations.
fn conversations(config: &Config, memory: &MemoryBudget) -> Option<Arc<Conversations>> {
    let bytes = memory.cache(config.limits.conversations_mib);
    (bytes > 0).then(|| Arc::new(Conversations::new(bytes)))
}

fn pixel_work(config: &Config) -> Arc<PixelWork> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(PixelWork::new(processors, seconds(config.timeouts.pixels_s)))
}

/// Creates the observers of requests, and the exporter of traces if one is set.
fn watchers(config: &Config) -> Result<(Watchers, Option<Exporter>), ConfigError> {
    let endpoint = observe::endpoint(&config.telemetry)?;
    let (spans, exporter) =
        endpoint.map(|endpoint| Exporter::new(endpoint, &config.telemetry)).unzip();
    Ok((Watchers::new(Log::new(config.log, io::stderr()), spans), exporter))
}

/// Creates the library of uploaded media, if there is a store.
fn library(
    config: &Config,
    backend: Option<&Arc<dyn StoreBackend>>,
    cache: &Arc<MediaCache>,
    admission: &Arc<Admission>,
) -> Option<Arc<MediaLibrary>> {
    let backend = Arc::clone(backend?);
    let max_lifetime = Duration::from_hours(24 * u64::from(config.fleet.days.max(1)));
    let (cache, admission) = (Arc::clone(cache), Arc::clone(admission));
    Some(Arc::new(MediaLibrary::new(backend, cache, admission, max_lifetime)))
}

/// Fails if the gateway is to be an openwop host.
#[cfg(not(feature = "openwop"))]
fn refuse_openwop(config: &Config) -> Result<(), ConfigError> {
    if !config.openwop.enabled {
        return Ok(());
    }
    let problem = "this build has no openwop host; build `photic` with the feature `openwop`";
    let key = "openwop.enabled".to_owned();
    Err(ConfigError::Value { key, problem: problem.to_owned() })
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
#[cfg(feature = "fleet")]
fn shared(config: &Config) -> Result<Shared, StartError> {
    let parts = fleet::connect(config).map_err(|error| match error {
        ConnectError::Config(error) => StartError::Config(error),
        ConnectError::Store(error) => StartError::Record(error),
    })?;
    Ok(parts.map_or_else(Shared::default, |parts| {
        let FleetParts { callers, quotas, auditing, lessons, backend } = parts;
        Shared {
            callers,
            quotas: Some(quotas),
            auditing: Some(auditing),
            backend: Some(backend),
            lessons: Some(lessons),
        }
    }))
}

/// Fails if servers are configured that this build cannot use.
#[cfg(not(feature = "fleet"))]
fn shared(config: &Config) -> Result<Shared, StartError> {
    if config.fleet.is_set() {
        let problem = "this build has no fleet; build `photic` with the feature `fleet`".to_owned();
        return Err(ConfigError::Value { key: "fleet".to_owned(), problem }.into());
    }
    Ok(Shared::default())
}

/// Opens the lessons: in the fleet's database, or in a file.
fn learned(config: &Config, shared: &Shared) -> (Arc<Learned>, Option<String>) {
    let file = config.learned.file().filter(|_| shared.backend.is_none());
    let (learned, warning) = Learned::open(file, config.learned.days);
    #[cfg(feature = "fleet")]
    let learned = match &shared.lessons {
        Some(lessons) => learned.shared_in(Arc::clone(lessons)),
        None => learned,
    };
    (Arc::new(learned), warning)
}

/// Opens the store in a directory, if one is configured.
fn local_backend(config: &Config) -> Result<Option<Arc<dyn StoreBackend>>, StartError> {
    let Some(directory) = config.record.directory() else { return Ok(None) };
    Ok(Some(Arc::new(LocalBackend(Arc::new(LocalStore::open(directory)?)))))
}

fn client(config: &Config) -> Result<UpstreamClient, ConfigError> {
    let client = shared_client(timeouts(config))?;
    let bytes = u64::from(config.limits.body_mib) << 20;
    Ok(UpstreamClient::new(client, Bounds { bytes, idle: seconds(config.timeouts.idle_s) }))
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
