//! The server on Streamable HTTP, for several hosts on one machine.
//!
//! It listens on loopback only, because clients can read the roots and there is no authentication.
//! Web pages are refused by `Host` and `Origin`, also those whose name points at this machine.

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

/// Path of the endpoint.
pub const PATH: &str = "/mcp";
/// Longest time until a request's headers are complete.
const HEADER_TIMEOUT: Duration = Duration::from_mins(2);
/// Longest idle time of a session. People pause, and few clients reconnect by themselves.
const SESSION_TIMEOUT: Duration = Duration::from_hours(24);
/// Longest time for running requests after a stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Error of a server that does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// The address is reachable from other machines.
    #[error("`{0}` is reachable from other machines, and this server has no authentication")]
    NotLoopback(SocketAddr),
}

/// A listening server.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    server: Server,
}

impl HttpServer {
    /// Starts to listen. Connections wait until [`HttpServer::serve`] is called.
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

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` is ready, then gives running requests a moment to finish.
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
        sessions.session_config.keep_alive = Some(SESSION_TIMEOUT);
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
                    // Usually out of file descriptors: other connections must end first.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                () = &mut stop => break,
            }
        }
        drop(self.listener);
        // Ends open event streams and their sessions.
        cancel.cancel();
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
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
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // Watched, so that the server waits for it.
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
