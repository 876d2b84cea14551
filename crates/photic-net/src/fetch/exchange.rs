//! One request to one checked address, and as much of the answer as is allowed.

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
use super::{Refusal, Room, Rules};
use crate::body::Outgoing;

/// Enough to tell what a file is.
const BEGINNING: usize = 512;
/// The most that the head of an answer may take.
const HEAD: usize = 64 << 10;

/// Everything we say about ourselves and what we want: no caller adds to it.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::ACCEPT, "image/*, application/pdf"),
    // A compressed body may be a thousand times what its bytes say.
    (header::ACCEPT_ENCODING, "identity"),
    (header::CONNECTION, "close"),
    (header::USER_AGENT, concat!("photic/", env!("CARGO_PKG_VERSION"))),
];

/// What a server said.
#[derive(Debug)]
pub(super) enum Answer {
    /// The file.
    Whole(Vec<u8>),
    /// Where to ask instead.
    Elsewhere(String),
}

/// The certificate roots of the system; where there are none, nobody is trusted.
pub(super) fn system_trust() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let native = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()
        .and_then(|builder| builder.with_native_roots().ok());
    match native {
        Some(builder) => builder.with_no_client_auth(),
        None => crate::client::distrusting(),
    }
}

/// Asks one of the checked addresses for the target.
pub(super) async fn get(
    target: &Target,
    checked: &[SocketAddr],
    rules: &Rules,
    tls: &Arc<ClientConfig>,
    room: &Room<'_>,
) -> Result<Answer, Refusal> {
    let stream = dial(checked, rules).await?;
    if !target.is_secured() {
        return exchange(stream, target, rules, room).await;
    }
    let name = target.host()?.to_owned();
    let name = ServerName::try_from(name).map_err(|_| Refusal::NoAddress)?;
    let secured = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
    let secured = timeout(rules.connect, secured).await.map_err(|_| Refusal::Timeout)?;
    exchange(secured.map_err(|_| Refusal::Unreachable)?, target, rules, room).await
}

async fn dial(checked: &[SocketAddr], rules: &Rules) -> Result<TcpStream, Refusal> {
    for address in checked {
        let Ok(Ok(stream)) = timeout(rules.connect, TcpStream::connect(address)).await else {
            continue;
        };
        // A public address of this very machine leads to what listens here for its own use.
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
    room: &Room<'_>,
) -> Result<Answer, Refusal> {
    let request = request(target)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Refusal::BrokeOff)?;
    let asked = async move {
        let reply = sender.send_request(request).await.map_err(|_| Refusal::BrokeOff)?;
        answer(reply, rules, room).await
    };
    // Driven here and not in a task: whoever stops waiting stops everything.
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
    room: &Room<'_>,
) -> Result<Answer, Refusal> {
    let (head, body) = reply.into_parts();
    match head.status {
        StatusCode::OK => {}
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            let location = head.headers.get(header::LOCATION).and_then(|to| to.to_str().ok());
            return location.map(|to| Answer::Elsewhere(to.to_owned())).ok_or(Refusal::Redirect);
        }
        other => return Err(Refusal::Status(other.as_u16())),
    }
    if head.headers.get(header::CONTENT_ENCODING).is_some_and(|value| value != "identity") {
        return Err(Refusal::Encoded);
    }
    read(body, rules, room).await.map(Answer::Whole)
}

/// Reads until it is too much, or shows itself to be something else.
async fn read(body: Incoming, rules: &Rules, room: &Room<'_>) -> Result<Vec<u8>, Refusal> {
    if body.size_hint().lower() > rules.most_bytes as u64 {
        return Err(Refusal::TooLarge);
    }
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    let mut known = false;
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
    {
        let data = frame.map_err(|_| Refusal::BrokeOff)?.into_data().unwrap_or_default();
        room(bytes.len() + data.len(), data.len())?;
        take(&mut bytes, &data, rules.most_bytes)?;
        if !known && bytes.len() >= BEGINNING {
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
