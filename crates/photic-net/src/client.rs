//! The HTTP client for model providers, with a pool of connections.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};

use crate::body::Outgoing;
use crate::error::Error;
use crate::options::{ClientOptions, HttpVersion, OptionsError};
use crate::proxy::Dialer;
use crate::websocket::Connection;

/// Longest time until a request for a WebSocket is answered. No model has to think for it.
const UPGRADE_TIMEOUT: Duration = Duration::from_secs(30);

/// Timeouts of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Longest time to connect.
    pub connect: Duration,
    /// Longest time until the head of a reply arrives. A model that thinks and does not stream
    /// answers late.
    pub answer: Duration,
    /// Time after which an idle connection is closed.
    pub keep: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_mins(10),
            // Shorter than the idle timeout of most servers. A request on a connection that the
            // server is just closing has to be sent again.
            keep: Duration::from_secs(50),
        }
    }
}

/// A client of connections that are made by TLS or without.
type Pool = legacy::Client<HttpsConnector<Dialer>, Outgoing>;

/// An HTTP client. Clones share one pool of connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Pool,
    /// For connections that are upgraded, which only HTTP/1.1 knows. Most clients need none.
    upgrades: Arc<OnceLock<Pool>>,
    connections: Connections,
    answer: Duration,
}

/// Makes connections, and pools of them.
#[derive(Clone, Debug)]
struct Connections {
    dialer: Dialer,
    tls: ClientConfig,
    server_name: Option<ServerName<'static>>,
    pools: legacy::Builder,
}

impl Connections {
    fn pool(&self, version: HttpVersion) -> Pool {
        let builder = HttpsConnectorBuilder::new().with_tls_config(self.tls.clone());
        let mut builder = builder.https_or_http();
        if let Some(name) = &self.server_name {
            builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone()));
        }
        let (dialer, mut pools) = (self.dialer.clone(), self.pools.clone());
        let connector = match version {
            HttpVersion::Negotiated => builder.enable_all_versions().wrap_connector(dialer),
            HttpVersion::Http1 => builder.enable_http1().wrap_connector(dialer),
            HttpVersion::Http2 => builder.enable_http2().wrap_connector(dialer),
        };
        pools.http2_only(version == HttpVersion::Http2);
        pools.build(connector)
    }
}

impl Client {
    /// Creates a client that trusts the certificate roots of the system. If there are none, only
    /// plain HTTP works.
    pub fn new(timeouts: Timeouts) -> Self {
        let options = ClientOptions { timeouts, ..ClientOptions::default() };
        // Without files and names, nothing can be wrong.
        let tls = options.tls().unwrap_or_else(|_| without_roots());
        Self::build(options, tls, None)
    }

    /// Creates a client with these options.
    ///
    /// # Errors
    ///
    /// Fails if a file of them cannot be read or used, or a name is none.
    pub fn with_options(options: ClientOptions) -> Result<Self, OptionsError> {
        let (tls, server_name) = (options.tls()?, options.server()?);
        Ok(Self::build(options, tls, server_name))
    }

    fn build(
        options: ClientOptions,
        tls: ClientConfig,
        server_name: Option<ServerName<'static>>,
    ) -> Self {
        let ClientOptions { timeouts, proxy, version, .. } = options;
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeouts.connect));
        tcp.set_keepalive(Some(Duration::from_mins(1)));
        let mut pools = legacy::Client::builder(TokioExecutor::new());
        pools
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(timeouts.keep)
            .http2_adaptive_window(true);
        let dialer = Dialer::new(tcp, proxy, timeouts.connect);
        let connections = Connections { dialer, tls, server_name, pools };
        let inner = connections.pool(version);
        Self { inner, upgrades: Arc::default(), connections, answer: timeouts.answer }
    }

    /// Sends a request and returns the head of the reply; its body arrives as it is read. Dropping
    /// the future or the body cancels the request.
    pub async fn send(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, Error> {
        let reply = tokio::time::timeout(self.answer, self.inner.request(request)).await;
        reply.map_err(|_| Error::Timeout)?.map_err(Error::of)
    }
}

impl Client {
    /// Sends a request that asks for a WebSocket, and returns the head of the reply. If its status is
    /// 101, [`Client::upgraded`] returns the connection.
    pub async fn upgrade(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, Error> {
        let answer = self.answer.min(UPGRADE_TIMEOUT);
        let client = self.upgrades.get_or_init(|| self.connections.pool(HttpVersion::Http1));
        let reply = tokio::time::timeout(answer, client.request(request)).await;
        reply.map_err(|_| Error::Timeout)?.map_err(Error::of)
    }

    /// Returns the connection of a reply of 101.
    pub async fn upgraded(reply: Response<Incoming>) -> Result<Connection, Error> {
        let upgraded = hyper::upgrade::on(reply).await;
        upgraded.map(Connection::new).map_err(|error| Error::Closed(error.into()))
    }
}

/// Creates a TLS configuration without any trusted root.
pub(crate) fn without_roots() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}
