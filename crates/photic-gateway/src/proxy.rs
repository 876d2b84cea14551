//! One request and its answer: which way it goes.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Request, Response, StatusCode};
use hyper::body::Incoming;
use photic::Wire;
use photic_fleet::{AuditAction, InFlightGuard, QuotaExceeded, QuotaRequest, Quotas, Subject};
use photic_net::{Client, Outgoing};

use crate::account::RequestLog;
use crate::auditing::{self, Auditing};
use crate::buffers::Buffers;
use crate::config::PathPrefixes;
use crate::failure::Failure;
use crate::fix::Pipeline;
use crate::intake::{self, Bounds};
use crate::listen::{self, Visit};
use crate::memory::{CallerIds, MemoryBudget, Share};
use crate::openwop::{self, Openwop};
use crate::pixel_work::PixelWork;
use crate::record::{Server, StoreBackend};
use crate::refusal::Refusal;
use crate::reply::{ReplyBody, Stream};
use crate::route::Route;
use crate::tally::Tally;
use crate::telemetry::{RequestGuard, Watched, Watchers};
use crate::tenancy::{Caller, Tenancy};
use crate::{converse, headers, media};

/// The text format of Prometheus.
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) client: Client,
    pub(crate) tenancy: Tenancy,
    pub(crate) quotas: Option<Quotas>,
    pub(crate) auditing: Option<Auditing>,
    /// How long a reference to an upload may hold.
    pub(crate) media_lasts: Duration,
    pub(crate) openwop: Option<Openwop>,
    pub(crate) workshop: Pipeline,
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) bounds: Bounds,
    pub(crate) memory: Arc<MemoryBudget>,
    pub(crate) caller_ids: CallerIds,
    pub(crate) pixels: PixelWork,
    pub(crate) stopping: AtomicBool,
    /// What every path has to begin with, if anything.
    pub(crate) prefixes: Option<PathPrefixes>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) tally: Arc<Tally>,
}

/// Who asks, and what its request may use.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    /// The memory that the request is charged to.
    pub(crate) share: Share,
    /// What it holds of its tenant's quota, until it is dropped.
    pub(crate) quota: Option<InFlightGuard>,
}

/// What a request counts for in its tenant's quota that does not say how long it is.
const UNDECLARED: u64 = 1 << 20;

/// Which listener accepted the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    /// The only one: it serves callers and operators.
    Both,
    /// The one for callers, where operators have their own.
    Public,
    /// The one for operators.
    Admin,
}

impl Proxy {
    /// Answers a request; what fails is an answer, too.
    pub(crate) async fn answer(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        visit: Arc<Visit>,
        peer: IpAddr,
        is_spare: bool,
    ) -> Response<Watched> {
        let route = match self.check(&mut request, &visit) {
            Ok(route) => route,
            Err(refused) => return (*refused).map(Watched::not),
        };
        if let Some(own) = self.own(route, visit.door) {
            return own.map(Watched::not);
        }
        let mut watch = RequestGuard::begin(&self.watchers, route, &mut request);
        let admitted = if self.stopping.load(Ordering::Relaxed) {
            Err(Refusal::Stopping.into())
        } else if is_spare {
            Err(Refusal::Full.into())
        } else {
            intake::admit(request.headers(), self.bounds.bytes)
        };
        let answer = match admitted {
            Err(failure) => {
                intake::drain(request.into_body());
                match route {
                    Route::Openwop if self.openwop.is_some() => Ok(openwop::flat(&failure)),
                    _ => Err(failure),
                }
            }
            // Boxed, so that the future of requests that are answered without it stays small.
            Ok(()) => Box::pin(self.forward(route, request, peer, &mut watch.account)).await,
        };
        watch.answered(answer)
    }

    /// What a request asks for, if its sender may ask; its prefix is taken away. Nothing of the
    /// body was read.
    fn check(
        &self,
        request: &mut Request<Incoming>,
        visit: &Visit,
    ) -> Result<Route, Box<Response<ReplyBody>>> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let checked = listen::check(method, uri)
            .and_then(|()| visit.hosts.check(uri, headers).map_err(Refusal::from));
        let prefix = self.prefixes.as_ref().map(|prefixes| prefixes.strip(uri.path()));
        if let Some(None) = prefix {
            // Whoever does not know the token learns nothing else, either.
            return Err(Box::new(hidden()));
        }
        let route =
            Route::of(method, prefix.flatten().map_or(uri.path(), |(path, _)| path), headers);
        if let Err(refusal) = checked {
            return Err(Box::new(Failure::Refused(refusal).render(route.wire())));
        }
        let Some((path, family)) = prefix.flatten() else { return Ok(route) };
        let route = route.within(family);
        let target = match uri.query() {
            Some(query) => format!("/{}?{query}", path.trim_start_matches('/')),
            None => format!("/{}", path.trim_start_matches('/')),
        };
        let target = target.parse().map_err(|_| Box::new(Failure::BadPath.render(route.wire())))?;
        *request.uri_mut() = target;
        Ok(route)
    }

    /// What the gateway answers itself, to those who may ask.
    fn own(&self, route: Route, door: ListenerKind) -> Option<Response<ReplyBody>> {
        Some(match (route, door) {
            (
                Route::Turn(_)
                | Route::CountTokens(_)
                | Route::Media
                | Route::Openwop
                | Route::Other(_),
                ListenerKind::Admin,
            )
            | (Route::Health | Route::Ready | Route::Metrics, ListenerKind::Public) => hidden(),
            (
                Route::Turn(_)
                | Route::CountTokens(_)
                | Route::Media
                | Route::Openwop
                | Route::Other(_),
                _,
            ) => return None,
            (Route::Health, _) => state(StatusCode::OK, "ok"),
            (Route::Ready, _) if self.stopping.load(Ordering::Relaxed) => {
                state(StatusCode::SERVICE_UNAVAILABLE, "stopping")
            }
            (Route::Ready, _) => ready(&self.away()),
            // Figures about all tenants together are the operator's, and a key of one opens no door
            // to them.
            (Route::Metrics, ListenerKind::Both) if self.tenancy.asks_for_keys() => hidden(),
            (Route::Metrics, _) => {
                let mut page = Response::new(ReplyBody::whole(self.watchers.metrics.page(self)));
                page.headers_mut().insert(CONTENT_TYPE, METRICS);
                page
            }
        })
    }

    /// The servers that are away.
    pub(crate) fn away(&self) -> Vec<Server> {
        match self.workshop.recorder.as_ref().map(|recorder| &recorder.place) {
            Some(StoreBackend::Fleet(_, away)) => {
                Server::ALL.into_iter().filter(|server| away.is(*server)).collect()
            }
            Some(StoreBackend::Local(_)) | None => Vec::new(),
        }
    }

    /// Lets a request in, if whoever asks may ask.
    pub(crate) async fn admit(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        peer: IpAddr,
        own: bool,
    ) -> Result<Admitted, Failure> {
        let caller = self.tenancy.caller(headers, query, own).await?;
        let bytes = intake::declared(headers).unwrap_or(UNDECLARED);
        let quota = match &self.quotas {
            None => None,
            Some(quotas) => {
                let admitted =
                    Box::pin(quotas.admit(&caller.tenant, QuotaRequest { requests: 1, bytes }))
                        .await;
                Some(admitted.map_err(|over| self.over(&caller, over))?)
            }
        };
        let share = self.memory.share(self.caller_ids.caller(&caller.identity, peer));
        Ok(Admitted { caller, share, quota })
    }

    /// A tenant has had what it is allowed.
    pub(crate) fn over(&self, caller: &Caller, over: QuotaExceeded) -> Failure {
        if let Some(auditing) = &self.auditing {
            let what = over.what.as_str();
            auditing.note(
                caller,
                auditing::of(caller, AuditAction::Refusal, Subject::tenant(), what, 0),
            );
        }
        Failure::OverQuota(over)
    }

    async fn forward(
        self: Arc<Self>,
        route: Route,
        request: Request<Incoming>,
        peer: IpAddr,
        account: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        if route == Route::Media {
            return Box::pin(media::answer(&self, request, peer, account)).await;
        }
        if let Some(openwop) = self.openwop.as_ref().filter(|_| route == Route::Openwop) {
            return Ok(Box::pin(openwop::answer(&self, openwop, request, peer, account)).await);
        }
        let query = request.uri().query();
        let admitted = match self.workshop.upstreams.permit(route, &request) {
            Ok(wire) => {
                let admitted = self.admit(request.headers(), query, peer, false).await;
                admitted.map(|admitted| (wire, admitted))
            }
            Err(refusal) => Err(refusal.into()),
        };
        let (wire, admitted) = match admitted {
            Ok(admitted) => admitted,
            Err(failure) => {
                intake::drain(request.into_body());
                return Err(failure);
            }
        };
        let off = headers::is_off(request.headers()) || headers::is_encoded(request.headers());
        match route {
            // To a gateway that is no openwop host its paths are like any other.
            Route::Other(_) | Route::Openwop => self.pass(wire, request, account).await,
            // Only the body says which upstream it is for, where they differ by model.
            _ if off && !self.workshop.upstreams.differ_by_model() => {
                self.pass(wire, request, account).await
            }
            _ => converse::converse(&self, route, off, request, &admitted, account).await,
        }
    }

    /// Streams a request through as it is.
    async fn pass(
        &self,
        wire: Wire,
        request: Request<Incoming>,
        account: &mut RequestLog,
    ) -> Result<Response<ReplyBody>, Failure> {
        let (mut parts, incoming) = request.into_parts();
        let upstream = self.workshop.upstreams.choose_for_other(wire).ok_or(Refusal::NoUpstream)?;
        account.upstream = Some((Arc::clone(upstream), wire));
        account.bytes_in = intake::declared(&parts.headers).unwrap_or(0);
        let uri = upstream.other(parts.uri.path(), parts.uri.query());
        headers::request(&mut parts.headers);
        let body = Outgoing::stream(incoming, self.bounds.bytes);
        let mut outgoing = Request::new(body);
        *outgoing.method_mut() = parts.method;
        *outgoing.uri_mut() = uri.ok_or(Failure::BadPath)?;
        *outgoing.headers_mut() = parts.headers;
        let reply = self.send(upstream.host(), outgoing).await?;
        Ok(Self::through(reply))
    }

    pub(crate) async fn send(
        &self,
        host: &str,
        request: Request<Outgoing>,
    ) -> Result<Response<Stream>, Failure> {
        let reply = self.client.send(request).await;
        reply
            .map(|reply| reply.map(|body| Stream::new(body, self.bounds.idle)))
            .map_err(|error| Failure::of(&error, host, self.bounds.bytes))
    }

    /// A reply as it comes.
    pub(crate) fn through(reply: Response<Stream>) -> Response<ReplyBody> {
        let (mut parts, body) = reply.into_parts();
        headers::reply(&mut parts.headers);
        // The caller is answered in its own version of HTTP, whatever the upstream speaks.
        parts.version = http::Version::default();
        Response::from_parts(parts, ReplyBody::Stream(body))
    }
}

/// Ready to repair and pass on, which needs nobody; what is promised beside that may be wanting.
fn ready(away: &[Server]) -> Response<ReplyBody> {
    if away.is_empty() {
        return state(StatusCode::OK, "ready");
    }
    let names: Vec<&str> = away.iter().map(|server| server.name()).collect();
    let mut response = state(StatusCode::OK, "degraded");
    let body = serde_json::json!({"status": "degraded", "away": names});
    *response.body_mut() = ReplyBody::whole(body.to_string());
    response
}

fn hidden() -> Response<ReplyBody> {
    state(StatusCode::NOT_FOUND, "not found")
}

fn state(status: StatusCode, word: &str) -> Response<ReplyBody> {
    let body = format!("{{\"status\":\"{word}\"}}");
    let mut response = Response::new(ReplyBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
