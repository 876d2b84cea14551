//! An upstream behind TLS, with HTTP/1.1 or HTTP/2. Reads whole requests and answers at once.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::Outcome;
use crate::upstream::ANSWER;

/// Trusted by the proxies, because of the environment that [`crate::proxy::Proxy`] starts them with.
const CERTIFICATE: &[u8] = include_bytes!("tls/loopback.der");
const AUTHORITY: &[u8] = include_bytes!("tls/authority.pem");
const KEY: &[u8] = include_bytes!("tls/loopback.key.der");
/// Bytes that may be sent on a stream of HTTP/2 before they are acknowledged.
const WINDOW: u32 = 1 << 20;

/// The version of HTTP that an upstream offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// Writes the certificate of the authority to a file, and returns its path.
///
/// The program may run on another machine than the one that it was built on, or from another folder.
pub(crate) fn authority() -> Outcome<PathBuf> {
    let path = std::env::temp_dir().join("photic-measure-authority.pem");
    if std::fs::read(&path).ok().as_deref() != Some(AUTHORITY) {
        std::fs::write(&path, AUTHORITY)?;
    }
    Ok(path)
}

/// Starts an upstream on a thread of its own.
pub(crate) fn start(version: Version) -> Outcome<SocketAddr> {
    let offered = match version {
        Version::Http1 => b"http/1.1".to_vec(),
        Version::Http2 => b"h2".to_vec(),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], PrivateKeyDer::try_from(KEY)?)?;
    config.alpn_protocols = vec![offered];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(acceptor.clone(), stream, version));
            }
        });
    });
    Ok(address)
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, version: Version) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let stream = TokioIo::new(acceptor.accept(stream).await.ok()?);
    let service = service_fn(answer);
    match version {
        Version::Http1 => http1::Builder::new().serve_connection(stream, service).await.ok(),
        Version::Http2 => http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .serve_connection(stream, service)
            .await
            .ok(),
    }
}

async fn answer(mut request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    while let Some(Ok(_)) = request.frame().await {}
    let mut reply = Response::new(Full::new(Bytes::from_static(ANSWER)));
    reply.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    Ok(reply)
}
