//! Sends one GET to a checked address and reads the reply within its limits.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_rustls::ConfigBuilderExt as _;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::target::Target;
use super::{Refusal, ReserveBytes, Rules};
use crate::body::Outgoing;

/// Bytes that are enough to recognize a file type.
const SNIFF_BYTES: usize = 512;
/// Largest head of a reply in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// All headers of a fetch. No caller adds to them.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::ACCEPT, "image/*, application/pdf"),
    // A small compressed body may expand to a thousand times its size.
    (header::ACCEPT_ENCODING, "identity"),
    (header::CONNECTION, "close"),
    (header::USER_AGENT, concat!("photic/", env!("CARGO_PKG_VERSION"))),
];

/// Outcome of one GET.
#[derive(Debug)]
pub(super) enum FetchStep {
    /// The bytes of the file.
    File(Vec<u8>),
    /// The location of a redirect.
    Redirect(String),
}

/// Creates a TLS configuration with the certificate roots of the system. If there are none, no
/// certificate is trusted.
pub(super) fn system_trust() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let native = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()
        .and_then(|builder| builder.with_native_roots().ok());
    match native {
        Some(builder) => builder.with_no_client_auth(),
        None => crate::client::without_roots(),
    }
}

/// Connects to one of the checked addresses and requests the target from it.
pub(super) async fn get(
    target: &Target,
    checked: &[SocketAddr],
    rules: &Rules,
    tls: &Arc<ClientConfig>,
    reserve: &ReserveBytes<'_>,
) -> Result<FetchStep, Refusal> {
    let stream = dial(checked, rules).await?;
    if !target.is_secured() {
        return exchange(stream, target, rules, reserve).await;
    }
    let name = target.host()?.to_owned();
    let name = ServerName::try_from(name).map_err(|_| Refusal::NoAddress)?;
    let secured = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
    let secured = timeout(rules.connect, secured).await.map_err(|_| Refusal::Timeout)?;
    exchange(secured.map_err(|_| Refusal::Unreachable)?, target, rules, reserve).await
}

async fn dial(checked: &[SocketAddr], rules: &Rules) -> Result<TcpStream, Refusal> {
    for address in checked {
        let Ok(Ok(stream)) = timeout(rules.connect, TcpStream::connect(address)).await else {
            continue;
        };
        // A public address of this machine may expose services that are meant for local use only.
        let ours = match (stream.local_addr(), stream.peer_addr()) {
            (Ok(local), Ok(peer)) => local.ip().to_canonical() == peer.ip().to_canonical(),
            _ => true,
        };
        if ours && !rules.private.contains(address) {
            return Err(Refusal::OwnMachine);
        }
        return Ok(stream);
    }
    Err(Refusal::Unreachable)
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: &Target,
    rules: &Rules,
    reserve: &ReserveBytes<'_>,
) -> Result<FetchStep, Refusal> {
    let request = request(target)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Refusal::BrokeOff)?;
    let asked = async move {
        let reply = sender.send_request(request).await.map_err(|_| Refusal::BrokeOff)?;
        answer(reply, rules, reserve).await
    };
    // Polled here instead of in a task, so that dropping the future closes the connection.
    let (mut asked, mut connection) = (pin!(asked), pin!(connection));
    let mut open = true;
    loop {
        tokio::select! {
            biased;
            answer = &mut asked => return answer,
            _ = &mut connection, if open => open = false,
        }
    }
}

fn request(target: &Target) -> Result<Request<Outgoing>, Refusal> {
    let mut request = Request::new(Outgoing::empty());
    *request.uri_mut() = target.path().parse().map_err(|_| Refusal::NoAddress)?;
    let host = HeaderValue::from_str(target.authority()).map_err(|_| Refusal::NoAddress)?;
    request.headers_mut().insert(header::HOST, host);
    for (name, value) in HEADERS {
        request.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(request)
}

async fn answer(
    reply: Response<Incoming>,
    rules: &Rules,
    reserve: &ReserveBytes<'_>,
) -> Result<FetchStep, Refusal> {
    let (head, body) = reply.into_parts();
    match head.status {
        StatusCode::OK => {}
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            let location = head.headers.get(header::LOCATION).and_then(|to| to.to_str().ok());
            return location.map(|to| FetchStep::Redirect(to.to_owned())).ok_or(Refusal::Redirect);
        }
        other => return Err(Refusal::Status(other.as_u16())),
    }
    if head.headers.get(header::CONTENT_ENCODING).is_some_and(|value| value != "identity") {
        return Err(Refusal::Encoded);
    }
    read(body, rules, reserve).await.map(FetchStep::File)
}

/// Reads the body. Fails as soon as it is too large or its first bytes are of an unwanted type.
async fn read(
    body: Incoming,
    rules: &Rules,
    reserve: &ReserveBytes<'_>,
) -> Result<Vec<u8>, Refusal> {
    if body.size_hint().lower() > rules.max_bytes as u64 {
        return Err(Refusal::TooLarge);
    }
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    let mut known = false;
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
    {
        let data = frame.map_err(|_| Refusal::BrokeOff)?.into_data().unwrap_or_default();
        reserve(bytes.len() + data.len(), data.len())?;
        take(&mut bytes, &data, rules.max_bytes)?;
        if !known && bytes.len() >= SNIFF_BYTES {
            known = begins_as_wanted(&bytes, rules)?;
        }
    }
    if !known {
        begins_as_wanted(&bytes, rules)?;
    }
    Ok(bytes)
}

fn take(bytes: &mut Vec<u8>, data: &Bytes, most: usize) -> Result<(), Refusal> {
    if data.len() > most - bytes.len() {
        return Err(Refusal::TooLarge);
    }
    bytes.extend_from_slice(data);
    Ok(())
}

fn begins_as_wanted(bytes: &[u8], rules: &Rules) -> Result<bool, Refusal> {
    if (rules.wanted)(bytes) { Ok(true) } else { Err(Refusal::WrongKind) }
}
