//! Answers HTTP requests below `/inspect`.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use photic_store::SessionId;
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::access::Access;
use super::events::{EventSource, Listeners};
use crate::assets;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::{Answer, ApiRequest, ServedFile};

/// The path of the viewer.
const BASE: &str = "/inspect";
/// The path of the API.
const API: &str = "/inspect/api/v1";
/// Most bytes of the body of a `POST`.
const MAX_POST: usize = 16 << 10;
/// Requests that are computed at the same time; others wait.
const MAX_BUSY: usize = 4;

/// A browser loads nothing and runs nothing but the files of the viewer.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'";
const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The body of an answer.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// The inspector behind a listener.
#[derive(Clone, Debug)]
pub struct Service {
    inspector: Arc<Inspector>,
    access: Arc<Access>,
    listeners: Arc<Listeners>,
    busy: Arc<Semaphore>,
    /// Exports read a whole session: one at a time, so that other pages need not wait.
    exporting: Arc<Semaphore>,
}

/// The body of `POST /enter`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnterRequest {
    token: String,
}

impl Service {
    /// Creates the service.
    pub fn new(inspector: Inspector, access: Access) -> Self {
        let inspector = Arc::new(inspector.at(access.address()));
        let source = match inspector.published.clone() {
            Some((events, tenant)) => EventSource::Published(events, tenant),
            None => EventSource::Polled,
        };
        let listeners = Arc::new(Listeners::new(Arc::clone(&inspector), source));
        let busy = Arc::new(Semaphore::new(MAX_BUSY));
        let exporting = Arc::new(Semaphore::new(1));
        Self { inspector, access: Arc::new(access), listeners, busy, exporting }
    }

    /// Returns `true` if a path belongs to the inspector.
    pub fn is_ours(path: &str) -> bool {
        path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the address to open, with the token.
    pub fn url(&self) -> String {
        self.access.url()
    }

    /// Ends all streams of events, so that a program that stops need not wait for pages.
    pub fn stop(&self) {
        self.listeners.stop();
    }

    /// Answers a request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut response = match self.answer(request).await {
            Ok(response) => response,
            Err(failure) => refuse(&failure),
        };
        secure(response.headers_mut());
        response
    }

    async fn answer<B>(&self, request: Request<B>) -> Result<Response<ResponseBody>, Failure>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        self.access.check_source(&head.uri, &head.headers)?;
        Access::check_post(&head.method, &head.headers)?;
        let is_post = head.method == Method::POST;
        if !is_post && head.method != Method::GET && head.method != Method::HEAD {
            return Err(Failure::method());
        }
        let path = head.uri.path();
        if path == BASE && !is_post {
            // The files beside the page are named relative to it. The fragment stays.
            let mut response = whole(StatusCode::PERMANENT_REDIRECT, "text/plain", Bytes::new());
            response.headers_mut().insert(LOCATION, HeaderValue::from_static("/inspect/"));
            return Ok(response);
        }
        if let Some((media_type, bytes)) = assets::file(path).filter(|_| !is_post) {
            return Ok(whole(StatusCode::OK, media_type, Bytes::from_static(bytes)));
        }
        let Some(path) = path.strip_prefix(API) else {
            return Err(Failure::not_found("this address"));
        };
        let posted = if is_post { Some(read(body).await?) } else { None };
        if let (Some(body), "/enter") = (&posted, path) {
            return self.enter(body);
        }
        self.access.check_cookie(&head.headers)?;
        if path == "/events" && !is_post {
            return self.events(&head.uri, &head.headers);
        }
        let query = head.uri.query().unwrap_or_default();
        let ask = ApiRequest::get(&format!("{path}?{query}"));
        let ask = match posted {
            Some(body) => ask.with_body(body),
            None => ask,
        };
        self.compute(ask).await.map(sent)
    }

    /// Computes an answer on a thread for blocking work, so that a gateway's own requests do not
    /// wait for it.
    async fn compute(&self, ask: ApiRequest) -> Result<Answer, Failure> {
        let stopped = || Failure::away("the inspector is stopping".to_owned());
        let is_export = ask.path.get(2).is_some_and(|part| part == "export");
        let turn = if is_export {
            let turn = Arc::clone(&self.exporting).acquire_owned().await;
            Some(turn.map_err(|_| stopped())?)
        } else {
            None
        };
        let permit = Arc::clone(&self.busy).acquire_owned().await.map_err(|_| stopped())?;
        let (inspector, runtime) = (Arc::clone(&self.inspector), Handle::current());
        let computing = tokio::task::spawn_blocking(move || {
            let _permits = (turn, permit);
            runtime.block_on(inspector.answer(&ask))
        });
        computing.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Exchanges the token for the cookie.
    fn enter(&self, body: &[u8]) -> Result<Response<ResponseBody>, Failure> {
        let wanted: EnterRequest = serde_json::from_slice(body)
            .map_err(|_| Failure::bad_request("the body must be {\"token\":…}"))?;
        let cookie = self.access.enter(&wanted.token)?;
        let mut response = whole(StatusCode::NO_CONTENT, "application/json", Bytes::new());
        response.headers_mut().insert(SET_COOKIE, header(&cookie));
        Ok(response)
    }

    /// Begins a stream of events.
    fn events(&self, uri: &Uri, headers: &HeaderMap) -> Result<Response<ResponseBody>, Failure> {
        let ask = ApiRequest::get(&format!("/?{}", uri.query().unwrap_or_default()));
        let session = ask.parameter("session").map(str::parse::<SessionId>).transpose();
        let session = session.map_err(|_| Failure::not_found("the session"))?;
        let after = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let body = self.listeners.listen(session, after).ok_or_else(Failure::too_many_listeners)?;
        let mut response = Response::new(body.boxed_unsync());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

/// Reads the body of a `POST`.
async fn read<B>(body: B) -> Result<Vec<u8>, Failure>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let read = Limited::new(body, MAX_POST).collect().await;
    let read = read.map_err(|_| Failure::bad_request("the body cannot be read"))?;
    Ok(read.to_bytes().to_vec())
}

fn header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn whole(status: StatusCode, media_type: &str, bytes: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(bytes).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, header(media_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn sent(answer: Answer) -> Response<ResponseBody> {
    match answer {
        Answer::Json(bytes) => whole(StatusCode::OK, "application/json", bytes.into()),
        Answer::File(ServedFile { media_type, bytes, is_immutable, attachment }) => {
            let mut response = whole(StatusCode::OK, media_type, bytes.into());
            if is_immutable {
                let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
                response.headers_mut().insert(CACHE_CONTROL, forever);
            }
            if let Some(name) = attachment {
                let value = header(&format!("attachment; filename=\"{name}\""));
                response.headers_mut().insert(CONTENT_DISPOSITION, value);
            }
            response
        }
    }
}

fn refuse(failure: &Failure) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    whole(status, "application/json", failure.body().into())
}

/// Adds the headers that keep a browser from doing anything else with an answer.
fn secure(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(COOP, HeaderValue::from_static("same-origin"));
    headers.insert(CORP, HeaderValue::from_static("same-origin"));
}
