//! The HTTP client for model providers, with a pool of connections.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::body::Outgoing;
use crate::error::Error;
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

/// An HTTP client. Clones share one pool of connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: legacy::Client<HttpsConnector<HttpConnector>, Outgoing>,
    /// For connections that are upgraded, which only HTTP/1.1 knows. Most clients need none.
    upgrades: Arc<OnceLock<legacy::Client<HttpsConnector<HttpConnector>, Outgoing>>>,
    builder: legacy::Builder,
    tcp: HttpConnector,
    answer: Duration,
}

impl Client {
    /// Creates a client that trusts the certificate roots of the system. If there are none, only
    /// plain HTTP works.
    pub fn new(timeouts: Timeouts) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeouts.connect));
        tcp.set_keepalive(Some(Duration::from_mins(1)));
        let connector = secured().https_or_http().enable_all_versions().wrap_connector(tcp.clone());
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(timeouts.keep)
            .http2_adaptive_window(true);
        let inner = builder.build(connector);
        Self { inner, upgrades: Arc::default(), builder, tcp, answer: timeouts.answer }
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
        let client = self.upgrades.get_or_init(|| {
            let connector = secured().https_or_http().enable_http1();
            self.builder.build(connector.wrap_connector(self.tcp.clone()))
        });
        let reply = tokio::time::timeout(answer, client.request(request)).await;
        reply.map_err(|_| Error::Timeout)?.map_err(Error::of)
    }

    /// Returns the connection of a reply of 101.
    pub async fn upgraded(reply: Response<Incoming>) -> Result<Connection, Error> {
        let upgraded = hyper::upgrade::on(reply).await;
        upgraded.map(Connection::new).map_err(|error| Error::Closed(error.into()))
    }
}

fn secured() -> HttpsConnectorBuilder<hyper_rustls::builderstates::WantsSchemes> {
    let provider = || rustls::crypto::aws_lc_rs::default_provider();
    match HttpsConnectorBuilder::new().with_provider_and_native_roots(provider()) {
        Ok(builder) => builder,
        Err(_) => HttpsConnectorBuilder::new().with_tls_config(without_roots()),
    }
}

/// Creates a TLS configuration without any trusted root.
pub(crate) fn without_roots() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}
