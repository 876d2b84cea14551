//! The HTTP client for model providers, with a pool of connections.

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
        let connector = secured().https_or_http().enable_all_versions().wrap_connector(tcp);
        let inner = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(timeouts.keep)
            .http2_adaptive_window(true)
            .build(connector);
        Self { inner, answer: timeouts.answer }
    }

    /// Sends a request and returns the head of the reply; its body arrives as it is read. Dropping
    /// the future or the body cancels the request.
    pub async fn send(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, Error> {
        let reply = tokio::time::timeout(self.answer, self.inner.request(request)).await;
        reply.map_err(|_| Error::Timeout)?.map_err(Error::of)
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
