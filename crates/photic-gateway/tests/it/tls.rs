//! TLS and HTTP/2 for clients, and certificates that are replaced.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use photic_gateway::{Config, Gateway};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::caller::{exchange, get};
use crate::scratch::{Scratch, quoted};
use crate::scripted::Upstream;
use crate::{gateway, started};

const BODY: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#;

/// A certificate for `localhost`, and its files.
fn certificate(scratch: &Scratch) -> CertificateDer<'static> {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    scratch.write("tls.key", key.serialize_pem());
    scratch.write("tls.crt", certificate.pem());
    certificate.der().clone()
}

fn settings(scratch: &Scratch, upstream: SocketAddr, more: &str) -> String {
    let (certificate, key) = (quoted(&scratch.path("tls.crt")), quoted(&scratch.path("tls.key")));
    format!(
        "[tls]\ncertificate = {certificate}\nkey = {key}\n{more}\n[admin]\nlisten = '127.0.0.1:0'\n\
         [[upstream]]\nurl = 'http://{upstream}'"
    )
}

/// Connects by TLS, and trusts one certificate.
async fn connect(
    to: SocketAddr,
    trusted: &CertificateDer<'static>,
    protocol: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(to).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn request(scheme: &str, host: &str) -> Request<Full<Bytes>> {
    let request = Request::post(format!("{scheme}://{host}/v1/chat/completions"));
    request.header("content-type", "application/json").body(Full::new(BODY.into())).unwrap()
}

#[tokio::test]
async fn clients_speak_http_1_or_2_by_tls() {
    let (address, upstream) = Upstream::answering("{\"choices\":[]}").await;
    let scratch = Scratch::new();
    let trusted = certificate(&scratch);
    let gateway = started(&settings(&scratch, address, "")).await;
    let stream = connect(gateway, &trusted, "h2").await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let io = TokioIo::new(stream);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let host = format!("localhost:{}", gateway.port());
    // Several at once on one connection.
    let asked = (0..20).map(|_| sender.send_request(request("https", &host)));
    let asked: Vec<_> = asked.map(tokio::spawn).collect();
    for one in asked {
        let reply = one.await.unwrap().unwrap();
        assert_eq!((reply.status().as_u16(), reply.version()), (200, Version::HTTP_2));
        assert_eq!(reply.headers()["x-photic-fixes"], "0");
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "{\"choices\":[]}");
    }
    assert_eq!(upstream.seen.lock().unwrap().len(), 20);
    assert_eq!(upstream.last().body, BODY.as_bytes());
    let foreign = sender.send_request(request("https", "evil.example")).await.unwrap();
    assert_eq!(foreign.headers()["x-photic-error"], "foreign_host");
    // The older version of HTTP.
    let stream = connect(gateway, &trusted, "http/1.1").await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let older = Request::post("/v1/chat/completions").header("host", &host);
    let older = older.body(Full::new(Bytes::from(BODY))).unwrap();
    let reply = sender.send_request(older).await.unwrap();
    assert_eq!((reply.status().as_u16(), reply.version()), (200, Version::HTTP_11));
    // Without TLS there is no answer.
    let mut plain = TcpStream::connect(gateway).await.unwrap();
    let mut said = Vec::new();
    tokio::io::AsyncWriteExt::write_all(&mut plain, &get("/health", "")).await.unwrap();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut plain, &mut said).await;
    assert!(!said.starts_with(b"HTTP/"), "{said:?}");
}

#[tokio::test]
async fn a_certificate_is_replaced_without_a_restart_and_a_wrong_one_is_not() {
    let (address, _) = Upstream::answering("{}").await;
    let scratch = Scratch::new();
    let old = certificate(&scratch);
    let gateway = started(&settings(&scratch, address, "watch_s = 1")).await;
    let open = connect(gateway, &old, "h2").await.unwrap();
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(open)).await.unwrap();
    tokio::spawn(connection);
    let new = certificate(&scratch);
    let replaced = async {
        while connect(gateway, &new, "h2").await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), replaced).await.expect("it is replaced");
    assert!(connect(gateway, &old, "h2").await.is_err(), "the former one is gone");
    let host = format!("localhost:{}", gateway.port());
    let reply = sender.send_request(request("https", &host)).await.unwrap();
    assert_eq!(reply.status(), 200, "connections stay open");
    // A key that is not that of the certificate.
    scratch.write("tls.key", rcgen::KeyPair::generate().unwrap().serialize_pem());
    let third = Scratch::new();
    let other = certificate(&third);
    for _ in 0..30 {
        assert!(connect(gateway, &new, "h2").await.is_ok(), "the former pair holds");
        assert!(connect(gateway, &other, "h2").await.is_err());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn files_that_cannot_be_a_certificate_keep_the_gateway_from_starting() {
    let scratch = Scratch::new();
    let upstream: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let starts = async |settings: String| {
        let mut config = Config::parse(&settings).unwrap();
        "127.0.0.1:0".clone_into(&mut config.listen);
        Gateway::bind(config).await.map(drop).map_err(|error| error.to_string())
    };
    let missing = starts(settings(&scratch, upstream, "")).await.unwrap_err();
    assert!(missing.contains("tls.certificate"), "{missing}");
    certificate(&scratch);
    scratch.write("tls.key", rcgen::KeyPair::generate().unwrap().serialize_pem());
    let foreign = starts(settings(&scratch, upstream, "")).await.unwrap_err();
    assert!(foreign.contains("tls.key"), "{foreign}");
    let half = starts(format!("[tls]\ncertificate = {}", quoted(&scratch.path("tls.crt")))).await;
    assert!(half.unwrap_err().contains("tls.key"));
}

/// Connects with HTTP/2 without TLS.
async fn h2c<B>(gateway: SocketAddr) -> SendRequest<B>
where
    B: http_body::Body<Data = Bytes, Error: std::error::Error + Send + Sync>
        + Send
        + Unpin
        + 'static,
{
    let stream = TokioIo::new(TcpStream::connect(gateway).await.unwrap());
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    sender
}

#[tokio::test]
async fn h2c_is_spoken_only_where_it_is_enabled() {
    let (address, upstream) = Upstream::answering("{}").await;
    let enabled = gateway(address, "h2c = true").await;
    let mut sender = h2c(enabled).await;
    let host = format!("localhost:{}", enabled.port());
    let reply = sender.send_request(request("http", &host)).await.unwrap();
    assert_eq!((reply.status().as_u16(), reply.version()), (200, Version::HTTP_2));
    assert_eq!(upstream.last().body, BODY.as_bytes());
    // The older version is spoken beside it.
    assert_eq!(exchange(enabled, &get("/v1/models", "")).await.status, 200);
    let disabled = gateway(address, "").await;
    let stream = TcpStream::connect(disabled).await.unwrap();
    let handshake =
        http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), TokioIo::new(stream));
    if let Ok((mut sender, connection)) = handshake.await {
        tokio::spawn(connection);
        assert!(sender.send_request(request("http", "localhost")).await.is_err());
    }
}

#[tokio::test]
async fn a_body_without_a_length_is_counted_by_http_2() {
    let (address, upstream) = Upstream::answering("{}").await;
    let enabled = gateway(address, "h2c = true").await;
    let mut sender = h2c(enabled).await;
    let frames = [Ok::<_, std::io::Error>(http_body::Frame::data(Bytes::from("{\"a\":1}")))];
    let body = Frames(frames.into_iter().collect());
    let asked = Request::post(format!("http://localhost:{}/v1/unknown", enabled.port()));
    let reply = sender.send_request(asked.body(body).unwrap()).await.unwrap();
    assert_eq!(reply.headers()["x-photic-passed"], "unknown_path");
    assert_eq!(upstream.last().body, b"{\"a\":1}");
}

/// Frames of a body, one after the other.
struct Frames(std::collections::VecDeque<Result<http_body::Frame<Bytes>, std::io::Error>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, std::io::Error>>> {
        std::task::Poll::Ready(self.get_mut().0.pop_front())
    }
}
