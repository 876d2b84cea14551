//! The client: connections to providers, kept and used again.

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

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the head of a reply. A model that thinks and does not stream answers late.
    pub answer: Duration,
    /// How long an unused connection is kept.
    pub keep: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_mins(10),
            // Shorter than most servers keep theirs: a connection they are about to close is a
            // request that has to be sent twice.
            keep: Duration::from_secs(50),
        }
    }
}

/// An HTTP client; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: legacy::Client<HttpsConnector<HttpConnector>, Outgoing>,
    answer: Duration,
}

impl Client {
    /// A client with the certificate roots of the system. Where there are none, only plain HTTP
    /// connects.
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

    /// Sends a request; the body of the reply arrives as it is read. To drop either is to cancel.
    pub async fn send(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, Error> {
        let reply = tokio::time::timeout(self.answer, self.inner.request(request)).await;
        reply.map_err(|_| Error::Timeout)?.map_err(Error::of)
    }
}

fn secured() -> HttpsConnectorBuilder<hyper_rustls::builderstates::WantsSchemes> {
    let provider = || rustls::crypto::aws_lc_rs::default_provider();
    match HttpsConnectorBuilder::new().with_provider_and_native_roots(provider()) {
        Ok(builder) => builder,
        Err(_) => HttpsConnectorBuilder::new().with_tls_config(distrusting()),
    }
}

/// Trusts nobody.
pub(crate) fn distrusting() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}
