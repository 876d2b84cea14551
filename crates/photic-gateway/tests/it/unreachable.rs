//! The reason for which no connection was made is named in the reply, in the log and in the counts.

use std::net::SocketAddr;
use std::sync::Arc;

use photic_gateway::FailedRequests;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::caller::{exchange, post};
use crate::scripted::{Act, Upstream};
use crate::watching::{Watching, events};

/// For `localhost` and `127.0.0.1`, by an authority that nobody trusts.
const CERTIFICATE: &[u8] = include_bytes!("../../examples/measure/tls/loopback.der");
const KEY: &[u8] = include_bytes!("../../examples/measure/tls/loopback.key.der");

const BODY: &[u8] = br#"{"model":"m","messages":[]}"#;

/// Starts a server with a certificate that is not trusted.
async fn untrusted() -> SocketAddr {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivateKeyDer::try_from(KEY).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    address
}

/// Starts a server that answers whatever comes in a language that is not TLS.
async fn plain() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // What is not read resets the connection, maybe before the answer is read.
            let mut read: Vec<u8> = Vec::new();
            let _ = stream.read_buf(&mut read).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            let _ = stream.read_to_end(&mut read).await;
        }
    });
    address
}

/// Asserts that a request through the gateway fails for this reason everywhere it is told.
async fn fails(url: &str, name: &str, says: &str) {
    let settings = format!("log = 'json'\n[[upstream]]\nurl = '{url}'");
    let watching = Watching::start(&settings).await;
    let reply = exchange(watching.address, &post("/v1/chat/completions", "", BODY)).await;
    assert_eq!(reply.status, 502, "{url}");
    assert_eq!(reply.header("x-photic-error"), Some("upstream_unreachable"), "{url}");
    let (_, host) = url.split_once("://").unwrap();
    let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
    let begins = format!("photic: cannot connect to the upstream `{host}`: {says}; ");
    assert!(message.starts_with(&begins), "{message}");
    let tally = Arc::clone(&watching.tally);
    let log = watching.ended().await;
    let [line] = &events(&log, "request")[..] else { panic!("{log}") };
    assert_eq!([&line["failure"], &line["cause"]], ["upstream_unreachable", name], "{log}");
    let failed =
        FailedRequests { host: Some(host.to_owned()), reason: says.to_owned(), requests: 1 };
    assert_eq!((tally.failures(), tally.unanswered()), (vec![failed], 1));
}

#[tokio::test]
async fn a_closed_port() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    fails(&format!("http://{free}"), "refused", "connection refused").await;
}

/// A label of 64 letters is too long for a name server, so none is asked.
#[tokio::test]
async fn a_name_that_cannot_be_resolved() {
    let url = format!("http://{}.example:1", "a".repeat(64));
    fails(&url, "dns", "the host name cannot be resolved (DNS)").await;
}

#[tokio::test]
async fn a_certificate_that_nobody_trusts() {
    let url = format!("https://{}", untrusted().await);
    let says = "the certificate is not trusted (unknown issuer)";
    fails(&url, "certificate_untrusted", says).await;
}

#[tokio::test]
async fn a_port_without_tls() {
    let url = format!("https://{}", plain().await);
    fails(&url, "tls", "the TLS handshake failed").await;
}

#[tokio::test]
async fn an_upstream_that_hangs_or_answers_with_an_error_is_counted_by_its_reason() {
    let (address, _) = Upstream::start(|seen| {
        if seen.head.contains("/messages") {
            return vec![Act::AwaitGone];
        }
        let head = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}";
        vec![Act::Send(head.as_bytes().to_vec())]
    })
    .await;
    // Long enough for the answers that come.
    let settings = format!("[timeouts]\nanswer_s = 10\n[[upstream]]\nurl = 'http://{address}'");
    let watching = Watching::start(&settings).await;
    let late = exchange(watching.address, &post("/v1/messages", "", BODY)).await;
    assert_eq!(late.status, 504);
    for _ in 0..2 {
        let refused = exchange(watching.address, &post("/v1/chat/completions", "", BODY)).await;
        assert_eq!(refused.status, 401);
    }
    let tally = Arc::clone(&watching.tally);
    watching.ended().await;
    let failed = |reason: &str, requests| FailedRequests {
        host: Some(address.to_string()),
        reason: reason.to_owned(),
        requests,
    };
    assert_eq!(tally.failures(), [failed("HTTP 401", 2), failed("no answer in time", 1)]);
    assert_eq!((tally.requests(), tally.unanswered()), (2, 1));
}
