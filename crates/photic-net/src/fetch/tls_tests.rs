//! Tests of the fetch over TLS: the address is pinned, and the certificate must be valid for the
//! name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Fetch, Refusal, Resolve, Resolving, Rules};

const AUTHORITY: &[u8] = include_bytes!("../../tests/data/tls/authority.der");
const CERTIFICATE: &[u8] = include_bytes!("../../tests/data/tls/pictures.example.der");
const KEY: &[u8] = include_bytes!("../../tests/data/tls/pictures.example.key.der");

#[derive(Debug)]
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

type Names = Arc<Mutex<Vec<Option<String>>>>;

/// Answers every request with the same bytes and records the requested server names.
async fn serve(answer: &'static str) -> (SocketAddr, Names) {
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
    let names = Names::default();
    let seen = Arc::clone(&names);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            seen.lock().unwrap().push(name);
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                if !matches!(stream.read_buf(&mut head).await, Ok(1..)) {
                    break;
                }
            }
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, names)
}

fn fetch(server: SocketAddr, trusted: bool) -> Fetch {
    let mut roots = RootCertStore::empty();
    if trusted {
        roots.add(CertificateDer::from(AUTHORITY)).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let rules = Rules { private: vec![server], ..Rules::new(|bytes| bytes.starts_with(b"P")) };
    Fetch::trusting(rules, Arc::new(Here), tls)
}

const PICTURE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nPicture";

#[tokio::test]
async fn the_certificate_is_for_the_name_and_the_connection_to_the_address() {
    let (server, names) = serve(PICTURE).await;
    let address = |host: &str| format!("https://{host}:{}/", server.port());
    let trusting = fetch(server, true);
    assert_eq!(trusting.get(&address("pictures.example")).await, Ok(b"Picture".to_vec()));
    assert_eq!(trusting.get(&address("pictures.example.")).await, Ok(b"Picture".to_vec()));
    assert_eq!(*names.lock().unwrap(), vec![Some("pictures.example".to_owned()); 2]);
    let another = trusting.get(&address("other.example")).await;
    assert_eq!(another, Err(Refusal::Unreachable));
    let number = trusting.get(&address("127.0.0.1")).await;
    assert_eq!(number, Err(Refusal::Unreachable));
}

#[tokio::test]
async fn without_trust_there_is_no_picture() {
    let (server, _) = serve(PICTURE).await;
    let address = format!("https://pictures.example:{}/", server.port());
    assert_eq!(fetch(server, false).get(&address).await, Err(Refusal::Unreachable));
}

#[tokio::test]
async fn a_redirect_never_leads_from_tls_to_plain_http() {
    let (server, names) =
        serve("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n")
            .await;
    let address = format!("https://pictures.example:{}/", server.port());
    assert_eq!(fetch(server, true).get(&address).await, Err(Refusal::Redirect));
    assert_eq!(names.lock().unwrap().len(), 1);
}
