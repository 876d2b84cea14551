//! The listener: accepts and serves connections, bounded in number and time.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING};
use http::{Method, Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::rt::bounds::Http2ServerConnExec;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::server::conn::{http1, http2};
use hyper::service::{HttpService, Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use photic_net::HostCheck;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::connections::{ConnectionLimit, ConnectionPermit, ConnectionState};
use super::drain::{Drain, EndAfterRequest};
use super::live::{AnswerReload, Live, Seen};
use super::timed_stream::TimedStream;
use crate::config::Config;
use crate::dispatch::{Entry, ListenerKind};
use crate::http::{Broken, ConnectionPlace, HoldPlace, asks_for_socket};
use crate::observe::Watched;

/// Maximum connections of operators. They are counted apart from those of clients, so that a full
/// gateway can still be observed.
const MAX_ADMIN_CONNECTIONS: usize = 64;
/// Files that are opened beside connections: databases, blobs, the log.
const OTHER_FILES: u64 = 64;

/// The first bytes of HTTP/2 (RFC 9113, section 3.4).
const H2: &[u8; 4] = b"PRI ";
/// Time between two looks at a connection of which fewer bytes have arrived.
const PEEK_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum number of requests that run on a connection at once, by HTTP/2.
const MAX_STREAMS: u32 = 128;
/// Maximum size of the head of a request, by HTTP/2.
const MAX_HEAD: u32 = 64 << 10;
/// Time for a client to answer a ping, by HTTP/2.
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// An address that the gateway listens on.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    limit: Arc<ConnectionLimit>,
    kind: ListenerKind,
    timeouts: Timeouts,
    /// Set if clients connect by TLS.
    tls: Option<Arc<ServerConfig>>,
    /// Set if clients without TLS may speak HTTP/2.
    h2c: bool,
}

/// Time limits of a connection.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    head: Duration,
    idle: Duration,
    write: Duration,
}

/// Begins to listen on an address.
///
/// # Errors
///
/// Fails if the address cannot be bound.
pub(crate) async fn bind(
    address: &str,
    kind: ListenerKind,
    config: &Config,
    tls: Option<Arc<ServerConfig>>,
) -> io::Result<Listener> {
    let socket = TcpListener::bind(address).await?;
    let address = socket.local_addr()?;
    let limits = config.limits;
    let most = if kind == ListenerKind::Admin {
        MAX_ADMIN_CONNECTIONS
    } else {
        (limits.connections as usize).min(connections_that_fit())
    };
    // A gateway with keys is behind a proxy, so all clients have one address. Its callers are limited
    // by their quotas.
    let per_peer = if config.requires_keys() { most } else { limits.connections_per_peer as usize };
    let seconds = |seconds: u32| Duration::from_secs(seconds.max(1).into());
    Ok(Listener {
        socket,
        address,
        limit: ConnectionLimit::new(most, per_peer),
        kind,
        h2c: config.h2c,
        tls,
        timeouts: Timeouts {
            head: seconds(config.timeouts.header_s),
            idle: seconds(config.timeouts.keep_alive_s),
            write: seconds(config.timeouts.idle_s),
        },
    })
}

/// Returns what requests of a listener depend on.
pub(crate) fn entry(address: SocketAddr, kind: ListenerKind, config: &Config) -> Arc<Entry> {
    let hosts = HostCheck::new(address).hosts(&config.hosts).origins(&config.origins);
    Arc::new(Entry { kind, hosts })
}

/// Returns the number of connections for which the process may open enough files. Each may need a
/// second file for the connection to its upstream.
fn connections_that_fit() -> usize {
    #[cfg(unix)]
    {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let fitting = files.map(|files| files.saturating_sub(OTHER_FILES) / 2);
        fitting.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX).max(1))
    }
    #[cfg(not(unix))]
    {
        usize::MAX
    }
}

impl Listener {
    /// Returns the address.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection that gets a permit.
    pub(crate) async fn accept(&self) -> (TcpStream, ConnectionPermit) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    if let Some(permit) = self.permit(peer.ip()) {
                        return (stream, permit);
                    }
                }
                // Most likely out of files: other connections have to end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn permit(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        self.limit.take(peer.to_canonical())
    }

    /// Serves a connection. With `drain`, a stopping gateway waits until it is done.
    pub(crate) fn serve(
        &self,
        (stream, permit): (TcpStream, ConnectionPermit),
        live: &Arc<Live>,
        reloader: &Arc<dyn AnswerReload>,
        drain: Option<&Drain>,
    ) {
        // Pieces of a stream are small, and clients wait for each one.
        let _ = stream.set_nodelay(true);
        let permit = Arc::new(permit);
        let service =
            service(self.kind, Seen::new(live), Arc::clone(reloader), Arc::clone(&permit));
        let (timeouts, drain) = (self.timeouts, drain.cloned());
        match (&self.tls, self.h2c) {
            (None, false) => {
                let connection = http1(stream, service, &permit, timeouts);
                match drain {
                    Some(drain) => tokio::spawn(until_evicted(drain.watch(connection), permit)),
                    None => tokio::spawn(until_evicted(connection, permit)),
                };
            }
            (Some(tls), _) => {
                let tls = TlsAcceptor::from(Arc::clone(tls));
                let accepted = Arc::clone(&permit);
                let connection = async move {
                    let handshake = tokio::time::timeout(timeouts.head, tls.accept(stream)).await;
                    let Ok(Ok(stream)) = handshake else { return };
                    let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let version = if is_h2 { Version::HTTP_2 } else { Version::HTTP_11 };
                    run(stream, version, service, &accepted, timeouts, drain).await;
                };
                tokio::spawn(until_evicted(connection, permit));
            }
            (None, true) => {
                let accepted = Arc::clone(&permit);
                let connection = async move {
                    let version = tokio::time::timeout(timeouts.idle, first_version(&stream)).await;
                    let Ok(version) = version else { return };
                    run(stream, version, service, &accepted, timeouts, drain).await;
                };
                tokio::spawn(until_evicted(connection, permit));
            }
        }
    }
}

/// Returns the service that answers the requests of a connection, each by the settings of its time.
fn service(
    kind: ListenerKind,
    seen: Seen,
    reloader: Arc<dyn AnswerReload>,
    permit: Arc<ConnectionPermit>,
) -> impl Service<
    Request<Incoming>,
    Response = Response<BusyBody>,
    Error = Infallible,
    Future = impl Future<Output = Result<Response<BusyBody>, Infallible>> + Send + 'static,
> + Send
+ 'static {
    let ConnectionPermit { peer, is_spare, .. } = *permit;
    let state = Arc::clone(&permit.state);
    let place = ConnectionPlace(permit as Arc<dyn HoldPlace>);
    service_fn(move |mut request: Request<Incoming>| {
        // A socket keeps the place of its connection.
        if asks_for_socket(request.headers()) {
            request.extensions_mut().insert(place.clone());
        }
        if request.version() == Version::HTTP_2 {
            as_http1(&mut request);
        }
        let busy = BusyGuard::begin(&state);
        let served = seen.now();
        let entry = Arc::clone(served.entry(kind));
        let reloader = (kind == ListenerKind::Admin && is_reload(&request, &entry))
            .then(|| Arc::clone(&reloader));
        let answer = Arc::clone(&served.dispatcher);
        async move {
            let answer = match reloader {
                Some(reloader) => reloader.answer().await.map(Watched::not),
                None => answer.answer(request, entry, peer, is_spare).await,
            };
            Ok::<_, Infallible>(answer.map(|body| BusyBody { body, _busy: busy }))
        }
    })
}

/// Returns `true` if an operator asks for a reload. Web pages cannot.
fn is_reload(request: &Request<Incoming>, entry: &Entry) -> bool {
    request.method() == Method::POST
        && request.uri().path() == "/reload"
        && entry.hosts.check(request.uri(), request.headers()).is_ok()
}

/// Gives the head of a request by HTTP/2 the form that it has by HTTP/1.1.
fn as_http1(request: &mut Request<Incoming>) {
    let authority = request.uri().authority().map(|one| HeaderValue::from_str(one.as_str()));
    // A host beside the authority is compared with it later.
    if let Some(Ok(host)) = authority
        && !request.headers().contains_key(HOST)
    {
        request.headers_mut().insert(HOST, host);
        if let Some(path) = request.uri().path_and_query().cloned() {
            *request.uri_mut() = path.into();
        }
    }
    let has_length = request.headers().contains_key(CONTENT_LENGTH);
    if !has_length && !request.body().is_end_stream() {
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
}

/// Returns the version of HTTP that a connection begins with.
async fn first_version(stream: &TcpStream) -> Version {
    let mut first = [0; H2.len()];
    loop {
        match stream.peek(&mut first).await {
            Ok(length) if length == H2.len() && first == *H2 => return Version::HTTP_2,
            Ok(length @ 1..) if length < H2.len() && first[..length] == H2[..length] => {
                tokio::time::sleep(PEEK_INTERVAL).await;
            }
            Ok(_) | Err(_) => return Version::HTTP_11,
        }
    }
}

/// Serves a connection whose version of HTTP is known.
async fn run<I, S>(
    stream: I,
    version: Version,
    service: S,
    permit: &Arc<ConnectionPermit>,
    timeouts: Timeouts,
    drain: Option<Drain>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<BusyBody>, Error = Infallible>
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    match (version, drain) {
        (Version::HTTP_2, Some(drain)) => {
            drain.watch(http2(stream, service, permit, timeouts)).await;
        }
        (Version::HTTP_2, None) => drop(http2(stream, service, permit, timeouts).await),
        (_, Some(drain)) => drain.watch(http1(stream, service, permit, timeouts)).await,
        (_, None) => drop(http1(stream, service, permit, timeouts).await),
    }
}

fn http1<I, S>(
    stream: I,
    service: S,
    permit: &Arc<ConnectionPermit>,
    timeouts: Timeouts,
) -> UpgradeableConnection<TokioIo<TimedStream<I>>, S>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<BusyBody>, Error = Infallible>,
{
    let Timeouts { head, idle, write } = timeouts;
    let stream = TimedStream::new(stream, Arc::clone(&permit.state), Some(head), write);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
}

fn http2<I, S>(
    stream: I,
    service: S,
    permit: &Arc<ConnectionPermit>,
    timeouts: Timeouts,
) -> http2::Connection<TokioIo<TimedStream<I>>, S, TokioExecutor>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<BusyBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    let Timeouts { idle, write, .. } = timeouts;
    let stream = TimedStream::new(stream, Arc::clone(&permit.state), None, write);
    http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(idle)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service)
}

/// Runs a connection until it ends, or must be closed for another one.
async fn until_evicted<T>(connection: impl Future<Output = T>, permit: Arc<ConnectionPermit>) {
    tokio::select! {
        _ = connection => {}
        () = permit.state.evicted() => {}
    }
}

impl<I, B, S> EndAfterRequest for UpgradeableConnection<I, S>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: Read + Write + Unpin + Send + 'static,
    B: Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Marks a connection as busy until it is dropped.
#[derive(Debug)]
struct BusyGuard(Arc<ConnectionState>);

impl<I, B, S> EndAfterRequest for http2::Connection<I, S, TokioExecutor>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: Read + Write + Unpin,
    B: Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    TokioExecutor: Http2ServerConnExec<S::Future, B>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl BusyGuard {
    fn begin(state: &Arc<ConnectionState>) -> Self {
        state.begin();
        Self(Arc::clone(state))
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The body of a reply. Its connection is busy until it is dropped.
#[derive(Debug)]
struct BusyBody {
    body: Watched,
    _busy: BusyGuard,
}

impl Body for BusyBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
