//! The server on Streamable HTTP: many hosts of one machine.
//!
//! Owns the door. It listens on loopback only, because whoever gets through may read the roots, and
//! nobody is asked for a key. Web pages are kept out by `Host` and `Origin`: a name that a stranger
//! pointed at this machine is not a name of ours.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use photic_net::{HostCheck, Refused};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};

use crate::server::Server;

/// Where clients come in.
pub const PATH: &str = "/mcp";
/// How long a connection may take to state a request.
const SILENCE: Duration = Duration::from_mins(2);
/// How long a session may be silent: people pause, and few clients begin again by themselves.
const PATIENCE: Duration = Duration::from_hours(24);
/// How long what is under way may take when the server is told to stop.
const DRAIN: Duration = Duration::from_secs(5);

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// The address can be reached by other machines.
    #[error("`{0}` can be reached by other machines, and this server asks nobody for a key")]
    NotLoopback(SocketAddr),
}

/// A server that listens.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    server: Server,
}

impl HttpServer {
    /// Begins to listen; connections wait until [`HttpServer::serve`].
    pub async fn bind(address: &str, server: Server) -> Result<Self, StartError> {
        let failed = |cause| StartError::Listen { address: address.to_owned(), cause };
        for one in tokio::net::lookup_host(address).await.map_err(failed)? {
            if !one.ip().is_loopback() {
                return Err(StartError::NotLoopback(one));
            }
        }
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, server })
    }

    /// The address that clients use.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` is done, then lets what is under way finish for a moment.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let port = self.address.port();
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(["localhost", "127.0.0.1", "::1"])
            .with_allowed_origins(own.clone())
            .enforce_origin_validation();
        let hosts = Arc::new(HostCheck::new(self.address).origins(&own));
        let cancel = config.cancellation_token.clone();
        let server = self.server;
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(PATIENCE);
        let sessions = Arc::new(sessions);
        let service = Service::new(move || Ok(server.clone()), sessions, config);
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                taken = self.listener.accept() => match taken {
                    Ok((stream, _)) => {
                        take(stream, service.clone(), Arc::clone(&hosts), &graceful);
                    }
                    // Out of files, most likely: others have to end before more can begin.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                () = &mut stop => break,
            }
        }
        drop(self.listener);
        // Streams that wait for news end, and sessions with them.
        cancel.cancel();
        let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    }
}

fn take(stream: TcpStream, service: Service, hosts: Arc<HostCheck>, graceful: &GracefulShutdown) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let (service, hosts) = (service.clone(), Arc::clone(&hosts));
        async move { Ok::<_, Infallible>(answer(&service, &hosts, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENCE)
        .serve_connection(TokioIo::new(stream), service);
    // Watched: the server does not end before it does.
    tokio::spawn(graceful.watch(connection));
}

async fn answer(
    service: &Service,
    hosts: &HostCheck,
    request: Request<Incoming>,
) -> Response<BoxBody<Bytes, Infallible>> {
    if let Err(refused) = hosts.check(request.uri(), request.headers()) {
        let status = match refused {
            Refused::InvalidHost => StatusCode::BAD_REQUEST,
            _ => StatusCode::FORBIDDEN,
        };
        return plain(status, format!("{refused}\n"));
    }
    if request.uri().path().trim_end_matches('/') == PATH {
        return service.handle(request).await;
    }
    plain(StatusCode::NOT_FOUND, "MCP is served at /mcp\n".to_owned())
}

fn plain(status: StatusCode, text: String) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = status;
    response
}
