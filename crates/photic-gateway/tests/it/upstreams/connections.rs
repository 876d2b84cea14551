//! The connections to upstreams: authorities, names, proxies, HTTP/2 and time limits.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http::{Request, Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::{CHAT, CHAT_ANSWER, QUESTION};
use crate::caller::{Reply, exchange, post};
use crate::scripted::{Act, Upstream, chunk, chunked};
use crate::started;

/// For `localhost` and `127.0.0.1`, by an authority that no system trusts.
const CERTIFICATE: &[u8] = include_bytes!("../../../examples/measure/tls/loopback.der");
const KEY: &[u8] = include_bytes!("../../../examples/measure/tls/loopback.key.der");

type Versions = Arc<Mutex<Vec<Version>>>;

/// Starts a server of HTTP/1.1 or HTTP/2, with TLS or without, that answers every request.
async fn server(scheme: &str, version: Version) -> (SocketAddr, Versions) {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivateKeyDer::try_from(KEY).unwrap(),
        )
        .unwrap();
    let name: &[u8] = if version == Version::HTTP_2 { b"h2" } else { b"http/1.1" };
    config.alpn_protocols = vec![name.to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tls = scheme == "https";
    let (address, seen) = (listener.local_addr().unwrap(), Versions::default());
    let versions = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, versions) = (acceptor.clone(), Arc::clone(&versions));
            tokio::spawn(async move {
                if tls {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(TokioIo::new(stream), version, versions).await;
                    }
                } else {
                    serve(TokioIo::new(stream), version, versions).await;
                }
            });
        }
    });
    (address, seen)
}

async fn serve(
    io: impl hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
    version: Version,
    versions: Versions,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        versions.lock().unwrap().push(request.version());
        let reply = Response::builder().header("content-type", "application/json");
        let reply = reply.body(Full::new(bytes::Bytes::from_static(CHAT_ANSWER.as_bytes())));
        async move { Ok::<_, Infallible>(reply.unwrap()) }
    });
    if version == Version::HTTP_2 {
        let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = http.serve_connection(io, service).await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    }
}

/// Returns the setting that trusts the authority of the certificate.
fn trusting() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/measure/tls");
    format!("ca = '{folder}/authority.pem'")
}

/// Asks a gateway before an upstream with these settings.
async fn asked(url: &str, settings: &str) -> Reply {
    let gateway = started(&format!("[[upstream]]\nurl = '{url}'\n{settings}")).await;
    exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await
}

#[tokio::test]
async fn an_authority_of_its_own_is_trusted_for_one_upstream() {
    let (address, _) = server("https", Version::HTTP_11).await;
    let url = format!("https://{address}");
    assert_eq!(asked(&url, &trusting()).await.status, 200);
    let refused = asked(&url, "").await;
    assert_eq!(
        (refused.status, refused.header("x-photic-error")),
        (502, Some("upstream_unreachable"))
    );
}

#[tokio::test]
async fn the_name_in_the_certificate_can_be_another_one() {
    let (address, _) = server("https", Version::HTTP_11).await;
    for (name, status) in [("localhost", 200), ("other.example", 502)] {
        let settings = format!("{}\ntls_name = '{name}'", trusting());
        assert_eq!(asked(&format!("https://{address}"), &settings).await.status, status, "{name}");
    }
}

#[tokio::test]
async fn http_2_is_spoken_with_tls_and_without() {
    for (scheme, settings, version) in [
        ("https", "", Version::HTTP_2),
        ("https", "http = '1.1'", Version::HTTP_11),
        ("http", "http = '2'", Version::HTTP_2),
        ("http", "", Version::HTTP_11),
    ] {
        let (address, versions) = server(scheme, version).await;
        let reply =
            asked(&format!("{scheme}://{address}"), &format!("{}\n{settings}", trusting())).await;
        assert_eq!(reply.status, 200, "{settings}");
        assert_eq!(*versions.lock().unwrap(), [version], "{settings}");
    }
}

/// Starts a proxy that answers `CONNECT` with this, and connects to `to` whatever it was asked for.
async fn proxy(answer: &'static str, to: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let heads = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let heads = Arc::clone(&heads);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                heads.lock().unwrap().push(String::from_utf8(head).unwrap());
                client.write_all(answer.as_bytes()).await.unwrap();
                if answer.contains(" 200 ") {
                    let mut server = TcpStream::connect(to).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    (address, seen)
}

#[tokio::test]
async fn requests_go_through_a_proxy() {
    let (address, _) = server("https", Version::HTTP_2).await;
    let (proxy, seen) = proxy("HTTP/1.1 200 Connection established\r\n\r\n", address).await;
    let settings =
        format!("{}\ntls_name = 'localhost'\nproxy = 'http://user:pass@{proxy}'", trusting());
    // A name that no name server knows: only the proxy is asked.
    assert_eq!(asked("https://model.invalid", &settings).await.status, 200);
    let head = seen.lock().unwrap().concat();
    assert!(head.starts_with("CONNECT model.invalid:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: Basic dXNlcjpwYXNz\r\n"), "{head}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    let (address, _) = server("https", Version::HTTP_11).await;
    let (refusing, _) = proxy("HTTP/1.1 403 Forbidden\r\n\r\n", address).await;
    for proxy in [refusing, super::closed().await] {
        let reply = asked("https://model.invalid", &format!("proxy = 'http://{proxy}'")).await;
        assert_eq!(
            (reply.status, reply.header("x-photic-error")),
            (502, Some("upstream_unreachable"))
        );
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("the proxy did not make the connection"), "{message}");
    }
}

#[tokio::test]
async fn an_upstream_has_time_limits_of_its_own() {
    let (address, _) = Upstream::start(|_| vec![Act::AwaitGone]).await;
    for settings in ["answer_s = 1", "total_s = 1"] {
        let reply = asked(&format!("http://{address}"), settings).await;
        assert_eq!((reply.status, reply.header("x-photic-error")), (504, Some("upstream_timeout")));
    }
    let (address, _) = Upstream::start(|_| {
        let begun = [chunked("text/event-stream"), chunk("data: 1\n\n")].concat();
        vec![Act::Send(begun), Act::AwaitGone]
    })
    .await;
    let reply = asked(&format!("http://{address}"), "total_s = 1").await;
    assert_eq!((reply.status, reply.complete), (200, false));
}
