//! HTTP/1.1 connections on loopback, one task each.
//!
//! Handles sockets, headers and bodies. No body is ever logged, and only loopback is served.

use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming as Arriving};
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, UPGRADE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use photic::Wire;
use photic::wire::FramingKind;
use photic_net::HostCheck;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::envelope::Envelope;
use crate::misbehave::Misbehavior;
use crate::provider::{IncomingRequest, Provider, ReplyOutcome};
use crate::rejection::Rejection;
use crate::route::Route;
use crate::socket;

/// Largest body that is read; providers stop earlier.
const MAX_BODY_BYTES: usize = 600 << 20;
/// Models that are listed if none were configured.
const MODELS: [&str; 4] = ["claude-sonnet-5", "gpt-4o", "gpt-5.4", "gpt-5.6"];

/// The connection is closed without a reply.
#[derive(Debug)]
struct ConnectionClosed;

impl std::fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the provider ended the connection")
    }
}

impl std::error::Error for ConnectionClosed {}

/// Binds a port on loopback; 0 for any free port.
pub(crate) async fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
}

/// Serves until the runtime is dropped.
pub(crate) async fn serve(listener: TcpListener, provider: Arc<Provider>) {
    let Ok(address) = listener.local_addr() else { return };
    let hosts = Arc::new(HostCheck::new(address).with_addresses());
    loop {
        // Out of file handles, or the client has disconnected: both pass.
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let (provider, hosts) = (Arc::clone(&provider), Arc::clone(&hosts));
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                respond(Arc::clone(&provider), Arc::clone(&hosts), request)
            });
            // The client has disconnected, or the connection was meant to be closed.
            let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
            let _ = connection.with_upgrades().await;
        });
    }
}

/// Answers one HTTP request.
async fn respond(
    provider: Arc<Provider>,
    hosts: Arc<HostCheck>,
    request: Request<Arriving>,
) -> Result<Response<ReplyBody>, ConnectionClosed> {
    if let Err(refused) = hosts.check(request.uri(), request.headers()) {
        return Ok(document(403, &json!({"error": {"message": refused.to_string()}})));
    }
    if request.headers().contains_key(UPGRADE) {
        return Ok(upgrade(provider, request));
    }
    let route = Route::of(request.method(), request.uri().path());
    let telling = |wire: &Wire| {
        wire.http().telling_headers.iter().any(|name| request.headers().contains_key(*name))
    };
    let wire = Wire::ALL.into_iter().find(telling).unwrap_or(Wire::OpenAiChat);
    let anthropic = request.headers().contains_key("anthropic-version");
    let route = match route {
        Route::Ask(wire) if !provider.speaks(wire) => Route::Unknown,
        Route::AskWrapped(_) if !provider.speaks(Wire::Anthropic) => Route::Unknown,
        Route::Count(wire) if !provider.speaks(wire) => Route::Unknown,
        route => route,
    };
    match route {
        Route::Ask(wire) => ask(provider, request, wire, Envelope::Plain, false).await,
        Route::AskWrapped(envelope) => {
            ask(provider, request, Wire::Anthropic, envelope, false).await
        }
        Route::Count(wire) => ask(provider, request, wire, Envelope::Plain, true).await,
        Route::Models => {
            let mut names: Vec<&str> = provider.models().iter().map(String::as_str).collect();
            if names.is_empty() {
                names = MODELS.to_vec();
            }
            Ok(document(200, &models(&names, anthropic)))
        }
        Route::Model(name) if provider.has_model(&name) => {
            Ok(document(200, &model(&name, anthropic)))
        }
        Route::Model(name) => Ok(document(404, &Rejection::no_model(wire, &name).body(wire, 0))),
        Route::Journal => Ok(document(200, &provider.journal())),
        Route::ForgetJournal => {
            provider.forget_journal();
            Ok(document(200, &json!({})))
        }
        Route::Unknown => {
            let no = Rejection::no_path(request.method().as_str(), request.uri().path());
            Ok(document(404, &no.body(Wire::OpenAiChat, 0)))
        }
    }
}

/// Answers a request for a socket. Only Responses has one, and it needs a key.
fn upgrade(provider: Arc<Provider>, request: Request<Arriving>) -> Response<ReplyBody> {
    let route = Route::of(&Method::POST, request.uri().path());
    let is_served = matches!(route, Route::Ask(Wire::OpenAiResponses));
    if !is_served || !provider.speaks(Wire::OpenAiResponses) || !provider.has_sockets() {
        return document(405, &json!({"error": {"message": "Method Not Allowed"}}));
    }
    let key = key(request.headers());
    if key.is_none() {
        let no = Rejection::no_key(Wire::OpenAiResponses);
        return document(no.status, &no.body(Wire::OpenAiResponses, 0));
    }
    let misbehave = misbehaviors(request.headers()).unwrap_or_default();
    match socket::open(provider, request, key, misbehave) {
        Some(response) => response.map(|()| ReplyBody::new([])),
        None => document(400, &json!({"error": {"message": "bad handshake"}})),
    }
}

/// Reads the body and lets the provider answer.
async fn ask(
    provider: Arc<Provider>,
    request: Request<Arriving>,
    wire: Wire,
    envelope: Envelope,
    count_only: bool,
) -> Result<Response<ReplyBody>, ConnectionClosed> {
    let headers = request.headers();
    let misbehave = match misbehaviors(headers) {
        Ok(kinds) => kinds,
        Err(says) => return Ok(document(400, &json!({"error": {"message": says}}))),
    };
    let cut = misbehave.contains(&Misbehavior::Cut) || provider.misbehaves(Misbehavior::Cut);
    let missing_header = missing(wire, headers).filter(|_| envelope.wants_headers());
    let key = key(headers);
    let stream_type = envelope.stream_type();
    let path = request.uri().path().to_owned();
    let body = match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
        Ok(body) => Some(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => None,
        Err(_) => return Err(ConnectionClosed),
    };
    let digest = body.as_ref().map(|body| blake3::hash(body));
    let incoming =
        IncomingRequest { wire, envelope, count_only, path, key, missing_header, misbehave, body };
    let answer = tokio::task::spawn_blocking(move || provider.answer(incoming));
    let outcome = answer.await.map_err(|_| ConnectionClosed)?;
    let mut response = respond_with(outcome, wire, stream_type, cut).await?;
    if let Some(digest) = digest.and_then(|one| HeaderValue::from_str(&one.to_hex()).ok()) {
        response.headers_mut().insert(HeaderName::from_static("x-mock-body"), digest);
    }
    Ok(response)
}

/// Writes a reply.
async fn respond_with(
    outcome: ReplyOutcome,
    wire: Wire,
    stream_type: Option<&'static str>,
    cut: bool,
) -> Result<Response<ReplyBody>, ConnectionClosed> {
    match outcome {
        ReplyOutcome::Whole { status, number, body } => {
            let mut response = document(status, &body);
            name(&mut response, wire, number);
            if status == 429 {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            if cut && status == 200 {
                response.body_mut().cut();
            }
            Ok(response)
        }
        ReplyOutcome::Events { number, events } => {
            let mut response = Response::new(ReplyBody::new(events.into_iter().map(Bytes::from)));
            let headers = response.headers_mut();
            let kind = HeaderValue::from_static(match (stream_type, wire.http().framing) {
                (Some(own), _) => own,
                (None, FramingKind::ServerSent) => "text/event-stream; charset=utf-8",
                (None, other) => other.media_type(),
            });
            headers.insert(CONTENT_TYPE, kind);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            name(&mut response, wire, number);
            if cut {
                response.body_mut().cut();
            }
            Ok(response)
        }
        ReplyOutcome::Empty => Ok(Response::new(ReplyBody::new([]))),
        ReplyOutcome::Hang => std::future::pending().await,
        ReplyOutcome::Close => Err(ConnectionClosed),
    }
}

/// The first required header that is missing.
fn missing(wire: Wire, headers: &HeaderMap) -> Option<&'static str> {
    let mut required = wire.http().required_headers.iter().map(|(name, _)| *name);
    required.find(|name| !headers.contains_key(*name))
}

/// The key of a request, from any of the headers that clients use.
fn key(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let signed = text("authorization").filter(|value| value.starts_with("AWS4-HMAC-SHA256 "));
    let stated = ["x-api-key", "api-key", "x-goog-api-key"].iter().find_map(|name| text(name));
    let key = bearer.or(stated).or(signed)?;
    (!key.trim().is_empty()).then(|| key.trim().to_owned())
}

/// The misbehaviors that the headers ask for.
fn misbehaviors(headers: &HeaderMap) -> Result<Vec<Misbehavior>, String> {
    let values = headers.get_all("x-mock-misbehave").iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|name| name.trim().parse()).collect()
}

/// A JSON response.
fn document(status: u16, body: &Value) -> Response<ReplyBody> {
    // In two halves, so that a reply can be cut between them.
    let text = body.to_string().into_bytes();
    let middle = text.len() / 2;
    let whole = Bytes::from(text);
    let length = whole.len();
    let halves = [whole.slice(..middle), whole.slice(middle..)];
    let mut response =
        Response::new(ReplyBody { length: Some(length as u64), ..ReplyBody::new(halves) });
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Sets the request ID in the header of the wire.
fn name(response: &mut Response<ReplyBody>, wire: Wire, number: u64) {
    let header = wire.http().request_id_header;
    if let Ok(id) = HeaderValue::from_str(&format!("req_mock{number:08}")) {
        response.headers_mut().insert(HeaderName::from_static(header), id);
    }
}

/// The list of models.
fn models(names: &[&str], anthropic: bool) -> Value {
    let list: Vec<Value> = names.iter().map(|name| model(name, anthropic)).collect();
    if anthropic {
        json!({"data": list, "has_more": false, "first_id": names.first(), "last_id": names.last()})
    } else {
        json!({"object": "list", "data": list})
    }
}

/// The description of a model.
fn model(name: &str, anthropic: bool) -> Value {
    if anthropic {
        let created = "2026-01-01T00:00:00Z";
        json!({"type": "model", "id": name, "display_name": name, "created_at": created})
    } else {
        json!({"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "mock"})
    }
}

/// A body in pieces. It yields after each piece, so that pieces are sent separately, as a model's
/// text is.
#[derive(Debug)]
struct ReplyBody {
    pieces: std::collections::VecDeque<Bytes>,
    length: Option<u64>,
    cut: bool,
    sent: bool,
}

impl ReplyBody {
    fn new(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let pieces = pieces.into_iter().collect();
        Self { pieces, length: None, cut: false, sent: false }
    }

    /// Drops half of the pieces, then closes the connection.
    fn cut(&mut self) {
        self.pieces.truncate(self.pieces.len() / 2);
        self.cut = true;
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = ConnectionClosed;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionClosed>>> {
        if std::mem::take(&mut self.sent) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.pieces.pop_front() {
            Some(piece) => {
                self.sent = true;
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None if self.cut => Poll::Ready(Some(Err(ConnectionClosed))),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && !self.cut
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.length.map_or_else(hyper::body::SizeHint::default, hyper::body::SizeHint::with_exact)
    }
}
