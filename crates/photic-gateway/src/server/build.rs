//! Builds the parts of a gateway from its settings.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use photic::Policy;
use photic::retention::Retention;
use photic_inspector::{Access, Inspector, ServedBy, Service, Token};
use photic_net::Client;
use photic_store::{LocalStore, Tenant};
use rustls::ServerConfig;

use super::listener::{self, Listener};
use super::live::{Live, Served};
use super::tls::Certificate;
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
use crate::observe::{self, Exporter, Log, Tally, UsageLog, Watchers};
use crate::record::{LocalBackend, Recorder, StoreBackend};
use crate::socket::Sockets;
use crate::tenant::{Admission, Auditing, Budgets, CallerKeys, Callers, Quota};
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
         `127.0.0.1`, require keys of callers (`callers.file`, `oidc.issuer`), or allow requests \
         without a key (`open = true`, `--open`)"
    )]
    Open(SocketAddr),
    /// The record cannot be opened.
    #[error("cannot open the record")]
    Record(#[from] photic_store::Error),
    /// A file about callers cannot be opened.
    #[error("cannot open `{key}`")]
    File {
        /// The setting that names it.
        key: &'static str,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The keys of the issuer of tokens cannot be fetched.
    #[error("{0}")]
    Issuer(String),
}

/// The parts of a gateway.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) listener: Listener,
    /// The listener for operators, if they have their own.
    pub(super) admin: Option<Listener>,
    /// The parts that follow the settings.
    pub(super) live: Arc<Live>,
    /// The parts that stay.
    pub(super) kept: Arc<SharedParts>,
    pub(super) certificate: Option<Arc<Certificate>>,
    pub(super) exporter: Option<Exporter>,
    /// A warning for the operator.
    pub(super) warning: Option<String>,
}

/// The parts of a gateway that outlive a reload of its settings: what was learned, recorded, cached and
/// counted, and the inspector.
#[derive(Debug)]
pub(super) struct SharedParts {
    pub(super) watchers: Arc<Watchers>,
    pub(super) learned: Arc<Learned>,
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) backend: Option<Arc<dyn StoreBackend>>,
    pub(super) buffers: Arc<Buffers>,
    pub(super) stopping: Arc<AtomicBool>,
    /// The addresses of clients and of operators.
    addresses: (SocketAddr, SocketAddr),
    public_kind: ListenerKind,
    /// Set if the fleet has the keys of callers.
    has_fleet_keys: bool,
    /// Set if recorded sessions are shown on the listener for operators.
    pub(super) inspector: Option<Service>,
    cache: Arc<MediaCache>,
    remote: Arc<RemoteMedia>,
    derivatives: Arc<Derivatives>,
    conversations: Option<Arc<Conversations>>,
    pixels: Arc<PixelWork>,
    library: Option<Arc<MediaLibrary>>,
    #[cfg(feature = "openwop")]
    openwop: Option<Arc<Openwop>>,
}

/// The parts that a fleet provides, where there is one.
#[derive(Debug, Default)]
struct Shared {
    callers: Callers,
    quotas: Option<Arc<dyn Quota>>,
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
    let certificate = Certificate::open(&config.tls)?;
    let keys = caller_keys(config, None)?;
    let (listener, admin) = listeners(config, &upstreams, certificate.as_ref()).await?;
    let shared = shared(config)?;
    #[cfg(feature = "openwop")]
    let is_fleet = shared.backend.is_some();
    let (learned, warning) = learned(config, &shared);
    let Shared { callers, quotas, auditing, backend, .. } = shared;
    let hides_metrics = config.requires_keys() && admin.is_none();
    let warning = if hides_metrics { Some(hidden_metrics(warning)) } else { warning };
    let away = match &keys {
        None => None,
        Some(keys) => keys.start(None).await,
    };
    let warning = match (warning, away) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    };
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
    let remote = Arc::new(RemoteMedia::new(&config.fetch, memory.cache(config.fetch.keep_mib)));
    let conversations = conversations(config, &memory);
    let has_fleet_keys = callers.requires_keys();
    let callers = keys.clone().map_or(callers, |keys| Callers::by_key(Box::new(keys)));
    let budgets = Arc::new(budgets(config)?);
    let admission = Arc::new(Admission::new(callers, quotas, auditing, memory, budgets));
    let library = library(config, backend.as_ref(), &cache, &admission);
    let inspector = inspector(config, admin.as_ref(), backend.as_ref(), recorder.as_ref())?;
    let kept = Arc::new(SharedParts {
        watchers: Arc::new(watchers),
        learned,
        recorder,
        backend,
        buffers,
        stopping: Arc::default(),
        addresses: (listener.address(), admin.as_ref().unwrap_or(&listener).address()),
        public_kind: if admin.is_some() { ListenerKind::Public } else { ListenerKind::Both },
        has_fleet_keys,
        inspector,
        cache,
        remote,
        derivatives: Arc::new(Derivatives::new(picture_bytes)),
        conversations,
        pixels: pixel_work(config),
        #[cfg(feature = "openwop")]
        openwop: Openwop::new(config, objects, library.clone())?.map(Arc::new),
        library,
    });
    let net = shared_client(timeouts(config))?;
    let served = serve(&kept, config, Follows { upstreams, policy, admission, keys, net }, None);
    let live = Live::new(served);
    Ok(Parts { listener, admin, live, kept, certificate, exporter, warning })
}

/// Builds the parts that follow the settings from other settings. What is the same stays.
pub(super) async fn rebuild(
    kept: &SharedParts,
    config: Config,
    before: &Served,
) -> Result<Served, StartError> {
    let (old, address) = (&before.config, kept.addresses.0);
    let upstreams = if Upstreams::are_same(old, &config) {
        Arc::clone(&before.dispatcher.upstreams)
    } else {
        let known = (old, &*before.dispatcher.upstreams);
        let upstreams = Arc::new(Upstreams::after(&config, known)?);
        refuse_itself(&upstreams, address).await?;
        upstreams
    };
    let policy = policy(&config.policy)?;
    refuse_open(&config, address)?;
    let keys = caller_keys(&config, before.callers.as_ref())?;
    if let Some(keys) = &keys
        && let Some(problem) = keys.start(before.callers.as_ref()).await
    {
        return Err(StartError::Issuer(problem));
    }
    let admission = &before.dispatcher.admission;
    let admission = match &keys {
        Some(keys) => Arc::new(admission.with_callers(Callers::by_key(Box::new(keys.clone())))),
        None if kept.has_fleet_keys => Arc::clone(admission),
        None => Arc::new(admission.with_callers(Callers::default())),
    };
    let net = if config.timeouts == old.timeouts {
        before.dispatcher.client.shared()
    } else {
        shared_client(timeouts(&config))?
    };
    let follows = Follows { upstreams, policy, admission, keys, net };
    Ok(serve(kept, &config, follows, Some(before)))
}

/// The values that follow the settings, and were built from them.
struct Follows {
    upstreams: Arc<Upstreams>,
    policy: Policy,
    admission: Arc<Admission>,
    keys: Option<CallerKeys>,
    net: Client,
}

/// Puts together the parts that answer requests.
fn serve(kept: &SharedParts, config: &Config, follows: Follows, before: Option<&Served>) -> Served {
    let Follows { upstreams, policy, admission, keys, net } = follows;
    let SharedParts { watchers, learned, backend, buffers, pixels, conversations, .. } = kept;
    let client = Arc::new(client(config, net));
    let tally = Arc::clone(&watchers.tally);
    let pipeline = Arc::new(Pipeline {
        planner: Planner {
            upstreams: Arc::clone(&upstreams),
            policy,
            profiles: Profiles::default(),
            learned: Arc::clone(learned),
        },
        fetcher: Fetcher {
            remote: Arc::clone(&kept.remote),
            cache: Arc::clone(&kept.cache),
            backend: backend.clone(),
        },
        derivatives: Arc::clone(&kept.derivatives),
        details: watchers.want_details(),
        records: kept.recorder.is_some(),
        serves: config.serves,
        reply_tokens: config.callers.reply_tokens,
        output_price: config.callers.output_price,
    });
    let recorder = kept.recorder.clone().zip(backend.clone());
    let cache = Arc::clone(&kept.cache);
    let turns = Arc::new(Turns {
        buffers: Arc::clone(buffers),
        conversations: conversations.clone(),
        recall: recorder.clone().map(|(recorder, backend)| Recall { recorder, backend, cache }),
        pipeline: Arc::clone(&pipeline),
        pixels: Arc::clone(pixels),
        client: Arc::clone(&client),
        recorder: turn_recorder(recorder.as_ref(), (&pipeline, pixels), &tally),
        admission: Arc::clone(&admission),
        tally,
    });
    let sockets = match before {
        None => Sockets::new(&turns, &upstreams, &client, &admission),
        Some(before) => before.dispatcher.sockets.beside(&turns, &upstreams, &client, &admission),
    };
    let dispatcher = Arc::new(Dispatcher {
        prefixes: config.prefixes.clone(),
        watchers: Arc::clone(watchers),
        status: Status {
            stopping: Arc::clone(&kept.stopping),
            admission: Arc::clone(&admission),
            pipeline,
            conversations: conversations.clone(),
            pixels: Arc::clone(pixels),
            recorder: kept.recorder.clone(),
            backend: backend.clone(),
        },
        upstreams,
        media: MediaApi {
            library: kept.library.clone(),
            admission: Arc::clone(&admission),
            client: Arc::clone(&client),
            buffers: Arc::clone(buffers),
        },
        admission,
        client,
        upload_bytes: u64::from(config.limits.upload_mib) << 20,
        turns,
        sockets,
        inspector: kept.inspector.clone(),
        #[cfg(feature = "openwop")]
        openwop: kept.openwop.clone(),
        stopping: Arc::clone(&kept.stopping),
    });
    let (public, admin) = kept.addresses;
    Served {
        dispatcher,
        public: listener::entry(public, kept.public_kind, config),
        admin: listener::entry(admin, ListenerKind::Admin, config),
        config: config.clone(),
        callers: keys,
    }
}

/// Returns the keys of callers, if there are some without a database.
fn caller_keys(
    config: &Config,
    before: Option<&CallerKeys>,
) -> Result<Option<CallerKeys>, ConfigError> {
    let keys = CallerKeys::new(config, before)?;
    if keys.is_some() && config.fleet.asks_for_keys() {
        let problem =
            "the fleet has the keys of callers; remove `callers.file` and `oidc`".to_owned();
        return Err(ConfigError::Value { key: "fleet.keys".to_owned(), problem });
    }
    Ok(keys)
}

fn budgets(config: &Config) -> Result<Budgets, StartError> {
    let meters = config.callers.meters().map(std::path::PathBuf::as_path);
    Budgets::open(meters).map_err(|cause| StartError::File { key: "callers.meters", cause })
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
    let hidden = "`/metrics` is not answered if keys are required; set `admin.listen`";
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
fn watchers(config: &Config) -> Result<(Watchers, Option<Exporter>), StartError> {
    let endpoint = observe::endpoint(&config.telemetry)?;
    let (spans, exporter) =
        endpoint.map(|endpoint| Exporter::new(endpoint, &config.telemetry)).unzip();
    let usage_log = config.callers.usage_log().map(|path| UsageLog::open(path)).transpose();
    let usage_log =
        usage_log.map_err(|cause| StartError::File { key: "callers.usage_log", cause })?;
    Ok((Watchers::new(Log::new(config.log), spans, usage_log), exporter))
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
    certificate: Option<&Arc<Certificate>>,
) -> Result<(Listener, Option<Listener>), StartError> {
    let has_admin = config.admin.listen.is_some();
    let kind = if has_admin { ListenerKind::Public } else { ListenerKind::Both };
    let tls = certificate.map(Certificate::server).transpose()?;
    let listener = bind(&config.listen, kind, config, tls).await?;
    let address = listener.address();
    refuse_open(config, address)?;
    let admin = match &config.admin.listen {
        None => None,
        Some(address) => Some(bind(address, ListenerKind::Admin, config, None).await?),
    };
    refuse_itself(upstreams, address).await?;
    Ok((listener, admin))
}

/// Fails if other machines could use the gateway without a key.
fn refuse_open(config: &Config, address: SocketAddr) -> Result<(), StartError> {
    let is_near = address.ip().to_canonical().is_loopback();
    if !is_near && !config.open && !config.requires_keys() {
        return Err(StartError::Open(address));
    }
    Ok(())
}

/// Fails if an upstream is the gateway itself.
async fn refuse_itself(upstreams: &Upstreams, address: SocketAddr) -> Result<(), StartError> {
    for upstream in upstreams.iter() {
        if is_itself(upstream, address).await {
            return Err(StartError::Itself(upstream.host().to_owned()));
        }
    }
    Ok(())
}

async fn bind(
    address: &str,
    kind: ListenerKind,
    config: &Config,
    tls: Option<Arc<ServerConfig>>,
) -> Result<Listener, StartError> {
    let failed = |cause| StartError::Listen { address: address.to_owned(), cause };
    listener::bind(address, kind, config, tls).await.map_err(failed)
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

fn client(config: &Config, client: Client) -> UpstreamClient {
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
